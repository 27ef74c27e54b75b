"""``continuity explain``: what an error is, and how long to wait."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, tzinfo
from functools import partial
from typing import IO, Any, TypeAlias

import click

from continuity_core.cli.options import config_file
from continuity_core.errors import Cause, CauseKind, ErrorRule, Failure, classify
from continuity_core.errors.normalising import clean
from continuity_core.observe.progress import spoken_duration

READER = "provider-errors"
"""The plugin whose options have the rules."""

Reader: TypeAlias = Callable[..., Cause]
"""``classify`` with the zone and the rules in force."""

ACTIONS = {
    CauseKind.LENGTH: "ask for one more turn without the cut answer",
    CauseKind.TRANSIENT: "try again after a short wait",
    CauseKind.RATE_LIMIT: "wait as stated, else back off, and try again",
    CauseKind.USAGE_LIMIT: "wait for the reset, else ask again from time to time",
    CauseKind.CONTEXT_OVERFLOW: "leave it to the host's compaction: the request has to shrink",
    CauseKind.PERMANENT: "stop: the same request fails again",
    CauseKind.CANCELLED: "stop: it was asked for",
    CauseKind.UNKNOWN: "try again a few times at most",
}


def _status(context: click.Context, option: click.Parameter, text: str | None) -> int | None:
    if text is None:
        return None
    if len(text) == 3 and text.isdecimal() and 100 <= int(text) <= 599:
        return int(text)
    raise click.BadParameter(
        f"{text!r} is no HTTP status: give its number, such as 429", context, option, "--status"
    )


@click.command()
@click.argument("text", required=False)
@click.option(
    "--status", metavar="STATUS", callback=_status, help="The HTTP status, if it is known: 100 to 599."
)
@click.option("--header", "headers", multiple=True, metavar="'K: V'", help="A response header; repeatable.")
@click.option("--now", "now_text", metavar="ISO", help="The moment of the failure (default: now).")
@click.option(
    "--timezone", "zone_name", metavar="ZONE", help="Zone of instants that name none (default: UTC)."
)
@click.option("--jsonl", metavar="FILE", help="Read cases as JSON lines ('-': standard input).")
@click.option(
    "--rules/--no-rules",
    default=None,
    help="Ask the rules of your configuration first (default: for TEXT, not for --jsonl).",
)
def explain(
    text: str | None,
    status: int | None,
    headers: tuple[str, ...],
    now_text: str | None,
    zone_name: str | None,
    jsonl: str | None,
    rules: bool | None,
) -> None:
    """Say what a provider's error means and how long to wait.

    Prints the cause, what to do, until when to wait, the evidence, and which rule decided; rules of your
    configuration come first, as in a run.
    TEXT is the error text; '-' reads it from standard input. Cases of --jsonl are read without any
    configuration, so that they get the same answers everywhere.
    """
    now = _instant(now_text) if now_text is not None else datetime.now(UTC)
    in_force = _rules() if (jsonl is None if rules is None else rules) else ()
    read = partial(classify, timezone=_zone(zone_name), rules=in_force)
    if jsonl is not None:
        if text is not None or status is not None or headers:
            raise click.UsageError(
                "--jsonl takes its cases from the file: leave out TEXT, --status and --header"
            )
        _explain_lines(jsonl, now, read)
        return
    if text is None:
        raise click.UsageError("give the error text, or '-' to read it from standard input")
    told: str = sys.stdin.read() if text == "-" else text
    failure = Failure.from_text(told, status=status, headers=[_header(header) for header in headers])
    _print(read(failure, now=now), now)


def _rules() -> tuple[ErrorRule, ...]:
    """The rules in force: none where the bundled reader is off."""
    from continuity_core.loading.load import load

    for row in load(config=config_file()).plugins.table:
        if row.name == READER and row.state == "on":
            rules: tuple[ErrorRule, ...] = row.options["rules"].value
            return rules
    return ()


def _instant(text: str) -> datetime:
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is no instant such as 2026-03-01T12:00:00Z", param_hint="--now"
        ) from None
    return instant if instant.tzinfo is not None else instant.replace(tzinfo=UTC)


def _zone(name: str | None) -> tzinfo:
    if name is None:
        return UTC
    from continuity_core.errors.instants import load_zone

    zone = load_zone(name)
    if zone is None:
        raise click.BadParameter(f"no zone {name!r} is known here", param_hint="--timezone")
    return zone


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise click.BadParameter(f"{text!r} is no header such as 'Retry-After: 30'", param_hint="--header")
    return name.strip(), value.strip()


def _print(cause: Cause, now: datetime) -> None:
    click.echo(f"cause:    {cause.kind}")
    click.echo(f"action:   {ACTIONS[cause.kind]}")
    if cause.guidance:
        longest = cause.guidance[0]
        seconds = longest.wait_from(now)
        about = "about " if longest.approximate else ""
        click.echo(f"wait:     {about}{spoken_duration(seconds)}, until {_local(now, seconds)}")
    else:
        click.echo("wait:     none stated")
    for hint in cause.guidance:
        click.echo(f"evidence: {_printable(hint.evidence)} ({hint.wait_from(now):g} s)")
    click.echo(f"why:      {_printable(cause.why)}")
    click.echo(f"rule:     {_printable(cause.rule or '')}")


def _local(now: datetime, seconds: float) -> str:
    try:
        until = datetime.fromtimestamp(now.timestamp() + seconds, tz=UTC).astimezone()
    except (ValueError, OverflowError, OSError):
        return "beyond any calendar"
    return until.strftime("%Y-%m-%d %H:%M:%S %Z").strip()


def _printable(text: str) -> str:
    return " ".join(clean(text).split())


def _explain_lines(path: str, now: datetime, read: Reader) -> None:
    with click.open_file(path, encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(_lines(lines), 1):
            if line.strip():
                click.echo(json.dumps(_case(line, number, now, read), allow_nan=False))
                sys.stdout.flush()


def _lines(stream: IO[Any]) -> Iterable[str]:
    return iter(stream.readline, "")


def _case(line: str, number: int, now: datetime, read: Reader) -> dict[str, Any]:
    """One case's verdict; a line that is no case is told as one, and the others go on."""
    try:
        case = json.loads(line)
    except (ValueError, RecursionError) as error:
        return _refused(None, f"line {number} is no JSON: {error}")
    if not isinstance(case, dict):
        return _refused(None, f"line {number} is no JSON object")
    name = case.get("id")
    try:
        json.dumps(name, allow_nan=False)
    except (ValueError, RecursionError):
        return _refused(None, f"line {number}: its id is no value of JSON, such as NaN or an infinite number")
    try:
        return _verdict(case, now, read)
    except Exception as error:
        return _refused(name, f"line {number} could not be read: {str(error) or type(error).__name__}")


def _verdict(case: dict[str, Any], now: datetime, read: Reader) -> dict[str, Any]:
    failure = _failure(case)
    wait = case.get("wait")
    at = wait.get("now") if isinstance(wait, dict) else None
    moment = _instant(at) if isinstance(at, str) else now
    cause = read(failure, now=moment)
    longest = cause.guidance[0] if cause.guidance else None
    return {
        "id": case.get("id"),
        "label": str(cause.kind),
        "wait_seconds": None if longest is None else longest.wait_from(moment),
        "approximate": longest is not None and longest.approximate,
        "why": cause.why,
    }


def _failure(case: dict[str, Any]) -> Failure:
    text, body, exception, status = (case.get(key) for key in ("text", "body", "exception", "status"))
    code, headers = case.get("code"), case.get("headers")
    if body is not None and not isinstance(body, str):
        body = json.dumps(body, ensure_ascii=False)
    if headers is not None and not isinstance(headers, dict):
        raise ValueError("headers must be an object")
    return Failure.from_text(
        "" if text is None else str(text),
        status=status if isinstance(status, int) and not isinstance(status, bool) else None,
        headers=None if headers is None else {str(name): str(value) for name, value in headers.items()},
        body=body,
        code=code,
        exceptions=(str(exception),) if exception else (),
    )


def _refused(name: Any, why: str) -> dict[str, Any]:
    return {"id": name, "label": "unknown", "wait_seconds": None, "approximate": False, "why": why}
