"""``continuity serve``: the chain for a host in another language."""

from __future__ import annotations

import click

from continuity_core.cli.output import UserError


@click.command()
@click.option(
    "--stdio", is_flag=True, help="Speak JSON-RPC 2.0 on standard input and output, one message a line."
)
def serve(stdio: bool) -> None:
    """Serve the chain to a host in another language.

    Ends when the other side closes the pipe. docs/protocol.md describes the messages.
    """
    if not stdio:
        raise UserError("serve has one transport so far", "continuity serve --stdio")
    from continuity_core.hosts.stdio import serve_stdio

    serve_stdio()
