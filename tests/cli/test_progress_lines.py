"""Events and the log as lines for a person."""

from __future__ import annotations

import io
import logging
from datetime import UTC, datetime

import pytest

from continuity_core import Continuity, Event, EventKind, Failure, StopReason, Text, Turn
from continuity_core.observe.log import LOGGER, log_to, only_from
from continuity_core.observe.progress import line_of, spoken_duration
from continuity_core.testing.clocks import VirtualClock


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 s"),
        (0.25, "0.2 s"),
        (9.96, "10 s"),
        (59.6, "1 min"),
        (90, "1 min 30 s"),
        (720, "12 min"),
        (7230, "2 h 30 s"),
        (90061, "1 d 1 h"),
    ],
)
def test_a_duration_is_said_in_its_two_largest_units(seconds: float, said: str) -> None:
    assert spoken_duration(seconds) == said


def lines_of_run(turn: Turn, **settings: object) -> list[str]:
    """What is told of a run with this one turn, and a good one if there is a resume."""
    events: list[Event] = []
    continuity = Continuity.from_settings(settings, clock=VirtualClock(), on_event=events.append)
    with continuity.start_sync_run() as run:
        if not (run.turn_ended(turn).resume or run.before_settle().resume):
            run.settled()
        else:
            run.turn_ended(Turn(stop_reason=StopReason.STOP, blocks=(Text("done"),)))
    told = [line_of(event) for event in events if event.kind is not EventKind.PLUGIN_SLOW]
    return [line for line in told if line is not None]


def test_a_resumed_run_is_told_with_its_wait_and_who_asked_for_the_turn() -> None:
    failure = Failure.from_text("Slow down", status=429, headers={"retry-after": "90"})
    lines = lines_of_run(Turn(stop_reason=StopReason.ERROR, failure=failure))
    assert lines[0] == "waits 1 min 30 s (retry-after: 90)"
    assert lines[1].startswith("turn 1 was rate_limit (")
    assert lines[2].startswith("before settling: one more turn (stream-recovery: ")
    assert lines[3].startswith("turn 2 was final (")
    assert lines[4] == "settled: completed"


def test_what_was_not_resumed_is_told_with_the_reason() -> None:
    lines = lines_of_run(Turn(stop_reason=StopReason.LENGTH, blocks=(Text("half"),)), max_resumes=0)
    assert lines[0].startswith("turn 1 was length: not resumed: ")
    assert "max_resumes" in lines[0]
    assert lines[-1] == "settled: incomplete"


def test_observe_mode_is_told_as_what_would_be_done() -> None:
    lines = lines_of_run(Turn(stop_reason=StopReason.LENGTH, blocks=(Text("half"),)), mode="observe")
    assert lines[0].startswith("turn 1 was length: would ask for one more turn (length-resume: ")


@pytest.mark.parametrize(
    ("kind", "details", "line"),
    [
        (EventKind.RUN_STARTED, {"parent": None, "mode": "on", "restored": False}, None),
        (EventKind.WAIT_ENDED, {"ended_by": None}, None),
        (EventKind.WAIT_ENDED, {"ended_by": "abort"}, "the wait was ended early: abort"),
        (
            EventKind.PLUGIN_FAULT,
            {"plugin": "p", "hook": "h", "error": "E: \x1b[31msk-0123456789abcdef", "disabled": False},
            "plugin p failed in h: E: ***",
        ),
        (
            EventKind.PLUGIN_SLOW,
            {"plugin": "p", "hook": "h", "seconds": 0.25},
            "plugin p took 250 ms in h",
        ),
        (
            EventKind.EDIT_REFUSED,
            {"plugin": "p", "what": "Omit", "why": "half a pair"},
            "refused Omit of plugin p: half a pair",
        ),
        (EventKind.MODE_CHANGED, {"mode": "off", "reason": "mode off"}, "mode off (mode off)"),
        (EventKind.INPUT_ARRIVED, {"input": "steer"}, "new input arrived"),
        (EventKind.ABORTED, {}, "aborted"),
    ],
)
def test_each_other_event_has_its_line(kind: EventKind, details: dict[str, object], line: str | None) -> None:
    event = Event(kind=kind, at=datetime.now(UTC), session="s", run="r", details=details)  # type: ignore[arg-type]
    assert line_of(event) == line


def test_a_traceback_in_the_log_keeps_its_lines_and_loses_secrets() -> None:
    stream = io.StringIO()
    with log_to(stream):
        try:
            raise ValueError("token sk-0123456789abcdef")
        except ValueError:
            LOGGER.exception("it broke")
    lines = stream.getvalue().splitlines()
    assert lines[0] == "continuity: error: it broke"
    assert lines[1] == "  Traceback (most recent call last):"
    assert lines[-1] == "  ValueError: token ***"


def test_the_log_is_as_before_when_it_is_no_longer_shown() -> None:
    stream = io.StringIO()
    before = (LOGGER.level, list(LOGGER.handlers))
    with log_to(stream, "debug"):
        logging.getLogger("continuity.part").debug("seen")
        with only_from("error"):
            LOGGER.warning("not seen")
    LOGGER.error("gone")
    assert stream.getvalue() == "continuity.part: debug: seen\n"
    assert (LOGGER.level, LOGGER.handlers) == before
