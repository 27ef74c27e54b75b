"""A user who types, aborts and switches while Pi works, in RPC mode."""

from __future__ import annotations

import json
import os
import signal
import time
from typing import Any

import pytest
from pi_runs import DONE, PiHome, RpcPi, broken, children_of, cut, refusal

LONG = ("--continuity-stream-delay-ms", "600000")
"""A wait that only an action ends."""


def until_waiting(pi: RpcPi) -> None:
    """Read on until our status line says that a wait is held."""
    while "waiting" not in str(pi.until("extension_ui_request", method="setStatus").get("statusText")):
        pass


def test_an_abort_ends_the_wait_and_nothing_more_is_requested(home: PiHome) -> None:
    with home.rpc([broken(), DONE], *LONG) as pi:
        pi.prompt()
        until_waiting(pi)
        pi.send("abort")
        assert pi.settled()["aborted"]
        assert len(pi.server.requests) == 1


def test_an_abort_after_pis_own_retries_are_spent_is_seen_too(home: PiHome) -> None:
    home.settings["retry"] = {"enabled": True, "maxRetries": 1, "baseDelayMs": 1}
    with home.rpc([refusal(503, "overloaded")] * 2, *LONG) as pi:
        pi.prompt()
        until_waiting(pi)
        pi.send("abort")
        assert pi.settled()["aborted"]
        assert len(pi.server.requests) == 2


def test_an_aborted_answer_is_not_resumed_and_not_sent_again(home: PiHome) -> None:
    with home.rpc([cut("ABORTED one two three four"), DONE]) as pi:
        hold = pi.server.hold(1)
        pi.prompt("One")
        hold.reached()
        pi.send("abort")
        assert pi.settled()["aborted"]
        assert "last turn cancelled" in pi.ask("/continuity explain")
        pi.prompt("Two")
        assert not pi.settled()["aborted"]
        assert not pi.server.requests[1].mentions("ABORTED")


def test_an_abort_is_not_kept_waiting_by_a_child_that_hangs(home: PiHome) -> None:
    with home.rpc([cut("ABORTED one two three four")]) as pi:
        hold = pi.server.hold(1)
        pi.prompt("One")
        hold.reached()
        [child] = children_of(pi.process.pid)
        os.kill(child, signal.SIGSTOP)
        started = time.monotonic()
        pi.send("abort")
        pi.until("turn_end")
        pi.until("agent_end")
        assert time.monotonic() - started < 8  # Less than the silence after which a child counts as hung.
        os.kill(child, signal.SIGCONT)
        assert pi.settled()["aborted"]


def test_switching_off_ends_the_wait_and_on_again_recovers_the_next_request(home: PiHome) -> None:
    with home.rpc([broken(), cut(), cut(), DONE], *LONG) as pi:
        pi.prompt()
        until_waiting(pi)
        assert pi.ask("/continuity off") == "continuity is off"
        assert not pi.settled()["aborted"]
        pi.prompt("Still off")
        pi.settled()
        assert len(pi.server.requests) == 2
        assert pi.ask("/continuity on") == "continuity is on"
        pi.prompt("On again")
        pi.settled()
        assert len(pi.server.requests) == 4


@pytest.mark.parametrize("kind", ["steer", "follow_up"])
@pytest.mark.parametrize("failure", [broken("BROKEN"), cut("BROKEN")], ids=["error", "length"])
def test_input_before_the_end_of_a_turn_costs_no_resume(
    home: PiHome, kind: str, failure: dict[str, Any]
) -> None:
    with home.rpc([failure, DONE], *LONG) as pi:
        hold = pi.server.hold(1)
        pi.prompt()
        hold.reached()
        pi.send(kind, message="Something else")
        pi.until("response", command=kind)
        hold.release()
        pi.settled()
        assert len(pi.server.requests) == 2
        assert pi.server.requests[1].mentions("Something else")
        assert not pi.server.requests[1].mentions("BROKEN")
        assert not [said for said in pi.said if "one more turn" in said]


@pytest.mark.parametrize("kind", ["steer", "follow_up"])
@pytest.mark.parametrize("failure", [broken("BROKEN"), {"text": " "}], ids=["error", "empty"])
def test_input_during_a_wait_ends_it(home: PiHome, kind: str, failure: dict[str, Any]) -> None:
    with home.rpc([failure, DONE], *LONG) as pi:
        pi.prompt()
        until_waiting(pi)
        pi.send(kind, message="Something else")
        pi.settled()
        assert len(pi.server.requests) == 2
        assert pi.server.requests[1].user_texts == ("Finish the task", "Something else")


def test_a_turn_that_input_superseded_is_left_out_of_the_session_later(home: PiHome) -> None:
    with home.rpc([cut("CUT_PART"), DONE]) as pi:
        hold = pi.server.hold(1)
        pi.prompt()
        hold.reached()
        pi.send("follow_up", message="Something else")
        pi.until("response", command="follow_up")
        hold.release()
        pi.settled()
    [cut_entry] = [entry for entry in home.session() if "CUT_PART" in str(entry)]
    edits = [entry for entry in home.session() if entry["type"] == "context_edit"]
    assert [(edit["targetId"], edit["replacement"]) for edit in edits] == [(cut_entry["id"], None)]


def test_a_follow_up_has_budgets_of_its_own_and_steering_has_not(home: PiHome) -> None:
    for kind, expected in (("follow_up", 4), ("steer", 3)):
        with home.rpc([cut(), cut("b"), cut("c"), DONE], "--continuity-max-resumes", "1") as pi:
            hold = pi.server.hold(2)
            pi.prompt()
            hold.reached()
            pi.send(kind, message="Something else")
            pi.until("response", command=kind)
            hold.release()
            pi.settled()
            assert len(pi.server.requests) == expected


def test_input_that_another_extension_handles_does_not_end_the_wait(home: PiHome) -> None:
    handles = home.extension(
        "handles", 'pi.on("input", (e) => (e.streamingBehavior ? { action: "handled" } : undefined));'
    )
    with home.rpc(
        [broken(), DONE], "--continuity-stream-delay-ms", "400", extensions=["ours", handles]
    ) as pi:
        pi.prompt()
        until_waiting(pi)
        pi.send("steer", message="!handled")
        pi.settled()
        assert len(pi.server.requests) == 2
        assert pi.server.requests[1].user_texts == ("Finish the task",)


def test_the_command_tells_how_things_stand(home: PiHome) -> None:
    with home.rpc([broken(), cut()], *LONG) as pi:
        assert "continuity is on" in pi.ask("/continuity")
        assert "length-resume (recover): on" in pi.ask("/continuity plugins")
        assert "no run" in pi.ask("/continuity explain")
        pi.prompt()
        until_waiting(pi)
        status = pi.ask("/continuity status")
        assert "1 turns, 0 resumes (8 left)" in status
        assert "waiting 600 s" in status
        assert "continuity is observe" in pi.ask("/continuity observe")
        pi.settled()
        assert "last turn transient" in pi.ask("/continuity explain")
        assert "takes status, on" in pi.ask("/continuity dance")


def test_a_new_session_has_a_new_child(home: PiHome) -> None:
    with home.rpc([cut(), DONE, cut(), DONE]) as pi:
        for text in ("One", "Two"):
            pi.prompt(text)
            pi.settled()
            pi.send("new_session")
            pi.until("response", command="new_session")
        assert len(pi.server.requests) == 4
        assert pi.server.requests[3].user_texts == ("Two",)


def test_request_settings_of_a_plugin_hold_for_one_turn(home: PiHome) -> None:
    (home.work / "mine.toml").write_text("[plugins.length-resume]\noutput_limit_factor = 2\n")
    with home.rpc([cut(), DONE, DONE], "--continuity-config", "mine.toml") as pi:
        for text in ("One", "Two"):
            pi.prompt(text)
            pi.settled()
        assert [request.decoded.output_limit for request in pi.server.requests] == [64, 128, 64]


@pytest.mark.parametrize("stop", ["tool_calls", "length"])
def test_a_limit_of_the_run_ends_it(home: PiHome, stop: str) -> None:
    journal = home.folder / "journal.jsonl"
    (home.work / "mine.toml").write_text("[plugins.run-limits]\nmax_requests = 1\n")
    home.environment["CONTINUITY_JOURNAL"] = str(journal)
    call = {"tool_calls": [{"name": "bash", "arguments": '{"command": "true"}'}], "stop": stop}
    with home.rpc([call, DONE], "--continuity-config", "mine.toml") as pi:
        pi.prompt()
        assert pi.settled()["aborted"]
        assert len(pi.server.requests) == 1
        assert any("1 of 1 requests" in said for said in pi.said)
    events = [json.loads(line) for line in journal.read_text().splitlines()]
    settled = [event for event in events if event["kind"] == "run_settled"]
    assert [(event["outcome"], event["requests"]) for event in settled] == [("incomplete", 1)]
