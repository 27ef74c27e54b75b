"""``continuity demo``: faults, played without and with continuity."""

from __future__ import annotations

import importlib.util

import click

from continuity_core.cli.output import UserError

_PACKAGES = ("anthropic", "h11", "openai", "rich")


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON, and nothing else.")
def demo(as_json: bool) -> int:
    """Play faults against a session without and with continuity.

    A provider on this machine fails on purpose; the session, the SDK clients, the plugins and your
    configuration are the real ones. Waits run on a sped-up clock. No key and no network are needed.

    Exit status: 1 if a fault was not recovered that should have been. A fault whose recovery your
    configuration switches off is shown as not recovered, with what switches it off, and does not count; nor
    does the one that nothing can mend.
    """
    for package in _PACKAGES:
        if importlib.util.find_spec(package) is None:
            raise UserError(
                f"continuity demo needs the package {package}", "pip install 'continuity-core[demo]'"
            )
    from continuity_core.cli.demo.showing import show

    return show(as_json=as_json)
