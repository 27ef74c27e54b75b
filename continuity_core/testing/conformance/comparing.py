"""What was expected against what was seen: one sentence for each difference."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from continuity_core.model.masking import printable
from continuity_core.testing.conformance.host import HostResult
from continuity_core.testing.conformance.observed import Observed, UserTexts
from continuity_core.testing.conformance.scenario import Expectation, Range, Scenario
from continuity_core.testing.fault_server import LoggedRequest

WAIT_TOLERANCE = 1.0
"""Seconds by which a wait may differ."""
_SHOWN = 80


def differences(scenario: Scenario, observed: Observed, adds_text: Callable[[str], bool]) -> tuple[str, ...]:
    """Everything that is not as it must be; empty where the scenario passed."""
    texts = UserTexts(scenario.user_texts, observed.requests, adds_text)
    expected = scenario.expect
    return tuple(
        dict.fromkeys(
            (
                *observed.cut_short,
                *observed.problems,
                *_foreign_texts(scenario, texts),
                *_counts(expected, observed, texts),
                *_lists(expected, observed),
                *_tools(expected, observed),
                *_requests(expected, observed.requests),
                *_final(expected, observed),
            )
        )
    )


def _foreign_texts(scenario: Scenario, texts: UserTexts) -> Iterator[str]:
    """A text of a plugin that the settings allow to inject one is no stranger's."""
    if not scenario.settings.get("allow_injection"):
        for text in texts.foreign:
            yield f"a user text that no user said: {_shown(text)}"


def _counts(expected: Expectation, observed: Observed, texts: UserTexts) -> Iterator[str]:
    for what, wanted, seen in (
        ("requests", expected.requests, len(observed.requests)),
        ("resumes", expected.resumes, observed.resumes),
        ("user_messages", expected.user_messages, texts.in_last_request),
    ):
        if wanted is not None and not wanted.holds(seen):
            yield f"{what}: expected {wanted}, was {seen}"


def _lists(expected: Expectation, observed: Observed) -> Iterator[str]:
    seconds = tuple(wait.seconds for wait in observed.waits)
    yield from _list("waits", expected.waits, seconds, WAIT_TOLERANCE)
    yield from _list("ended_waits", expected.ended_waits, observed.ended_waits, 0.0)


def _list(
    what: str, wanted: Sequence[Range] | None, seen: Sequence[float], tolerance: float
) -> Iterator[str]:
    if wanted is None:
        return
    if len(wanted) == len(seen) and all(
        range_.holds(value, tolerance) for range_, value in zip(wanted, seen, strict=True)
    ):
        return
    numbers = ", ".join(f"{round(value, 3):g}" for value in seen)
    yield f"{what}: expected [{', '.join(map(str, wanted))}], was [{numbers}]"


def _tools(expected: Expectation, observed: Observed) -> Iterator[str]:
    if expected.tools_run is None:
        return
    for name in dict.fromkeys((*expected.tools_run, *observed.tools_run)):
        wanted = expected.tools_run.get(name, Range(0, 0))
        seen = observed.tools_run.get(name, 0)
        if not wanted.holds(seen):
            yield f"tools_run.{name}: expected {wanted}, was {seen}"


def _requests(expected: Expectation, requests: Sequence[LoggedRequest]) -> Iterator[str]:
    for number, wanted in expected.request.items():
        if number > len(requests):
            yield f"request.{number}: there were only {len(requests)}"
            continue
        request = requests[number - 1]
        yield from (
            f"request.{number}: lacks {_shown(text)}" for text in wanted.has if not request.mentions(text)
        )
        yield from (
            f"request.{number}: has {_shown(text)}" for text in wanted.lacks if request.mentions(text)
        )


def _final(expected: Expectation, observed: Observed) -> Iterator[str]:
    wanted = expected.final
    result = observed.results[-1] if observed.results else HostResult()
    seen: dict[str, str | bool | None] = {
        "text": result.text,
        "stop": result.stop,
        "aborted": result.aborted,
        "cause": observed.cause,
    }
    for what, value in (
        ("text", wanted.text),
        ("stop", wanted.stop),
        ("aborted", wanted.aborted),
        ("cause", wanted.cause),
    ):
        if value is not None and value != seen[what]:
            instead = _shown(seen[what])
            if what == "text" and result.error is not None:
                instead += f" (error: {printable(result.error, 2 * _SHOWN)})"
            yield f"final.{what}: expected {_shown(value)}, was {instead}"


def _shown(value: str | bool | None) -> str:
    if value is None:
        return "nothing"
    return f'"{printable(value, _SHOWN)}"' if isinstance(value, str) else str(value).lower()
