"""What a host in another language can ask for."""

from __future__ import annotations

import queue
import threading
from typing import Any

import attrs
import pytest
from stdio_client import SCHEMAS, StdioClient, failed_turn, serving, turn

from continuity_core import Boundary, Continuity, HostFacts, Order, Proposal, Stage, hookimpl
from continuity_core.testing.clocks import VirtualClock


def standing_clock() -> VirtualClock:
    """Time that passes only when it is moved: a wait is held until somebody ends it."""
    return VirtualClock(auto_advance=False)


def start_wait(client: StdioClient, session: str = "s", ended: Any = None) -> int:
    """Begin a wait of five seconds, and give the id of the request that is held."""
    client.ask("run/started", session=session)
    id = client.start("run/turn_ended", session=session, turn=ended or failed_turn())
    client.note("wait_started")
    return id


def test_a_cut_turn_is_left_out_and_resumed() -> None:
    with serving() as client:
        client.open()
        client.ask("run/started", session="s")
        decision = client.ask("run/turn_ended", session="s", turn=turn("length"), host={})
        assert decision["resume"]
        assert decision["outcome"] == "scheduled"
        assert decision["edits"] == [{"entry": "a1", "content": None}]
        assert decision["reason"].startswith("length-resume: ")


def test_a_failed_turn_waits_when_it_ends_and_is_resumed_before_settling() -> None:
    clock = VirtualClock()
    with serving(clock) as client:
        client.open()
        client.ask("run/started", session="s")
        assert client.ask("run/turn_ended", session="s", turn=failed_turn())["outcome"] == "deferred"
        decision = client.ask("run/before_settle", session="s")
        assert decision["resume"]
        assert decision["edits"] == [{"entry": "a1", "content": None}]
    assert [wait.seconds for wait in clock.waits] == [5]


def test_a_status_and_headers_of_the_host_count() -> None:
    clock = VirtualClock()
    with serving(clock) as client:
        client.open()
        client.ask("run/started", session="s")
        failure = {"message": "slow down", "status": 429, "headers": {"retry-after": "7"}}
        client.ask("run/turn_ended", session="s", turn=turn("error", failure=failure))
    assert [wait.seconds for wait in clock.waits] == [7]


def test_a_wait_is_told_of_while_it_is_held() -> None:
    with serving(standing_clock()) as client:
        client.open()
        start_wait(client)
        wait = client.note("wait")
        assert (wait["session"], wait["seconds"], wait["left"]) == ("s", 5, 5)


@pytest.mark.parametrize(
    ("method", "params", "outcome"),
    [
        ("run/abort", {}, "cancelled"),
        ("run/input_arrived", {"kind": "steer"}, "superseded"),
        ("session/toggle", {"mode": "off"}, "cancelled"),
        ("run/settled", {"outcome": "aborted"}, "cancelled"),
    ],
)
def test_a_wait_ends_at_once(method: str, params: dict[str, Any], outcome: str) -> None:
    with serving(standing_clock()) as client:
        client.open()
        held = start_wait(client)
        client.ask(method, session="s", **params)
        decision = client.result(held)
        assert (decision["resume"], decision["outcome"]) == (False, outcome)


def test_a_pending_request_can_be_cancelled_by_its_id() -> None:
    with serving(standing_clock()) as client:
        client.open()
        held = start_wait(client)
        assert client.ask("cancel", id=held)["found"]
        assert client.result(held)["outcome"] == "cancelled"
        assert not client.ask("cancel", id=held)["found"]


def test_input_in_a_wait_leaves_the_empty_turn_out_of_later_requests() -> None:
    with serving(standing_clock()) as client:
        client.open()
        held = start_wait(client, ended=turn("stop", " "))
        client.ask("run/input_arrived", session="s", kind="steer")
        assert client.result(held)["superseded"] == [{"entry": "a1", "content": None}]
        entries = [
            {"ref": "u1", "role": "user", "text": "x"},
            {"ref": "a1", "role": "assistant", "text": "."},
        ]
        assert client.ask("run/project", session="s", keep=0, entries=entries)["omit"] == ["a1"]


def test_one_session_decides_while_another_waits() -> None:
    with serving(standing_clock()) as client:
        client.open("one")
        client.ask("session/open", session="two")
        held = start_wait(client, "one")
        client.ask("run/started", session="two")
        assert client.ask("run/turn_ended", session="two", turn=turn("length"))["resume"]
        client.ask("run/abort", session="one")
        assert client.result(held)["outcome"] == "cancelled"


def test_switching_one_session_off_leaves_the_other_on() -> None:
    with serving() as client:
        client.open("one")
        client.ask("session/open", session="two")
        assert client.ask("session/toggle", session="one", mode="off")["mode"] == "off"
        assert client.ask("session/status", session="two")["mode"] == "on"


def test_a_host_that_can_make_no_more_turns_is_asked_for_none() -> None:
    with serving() as client:
        client.open()
        client.ask("run/started", session="s")
        host = {"no_more_turns": "the limit of 3 turns is reached"}
        decision = client.ask("run/turn_ended", session="s", turn=turn("length"), host=host)
        assert not decision["resume"]
        assert "the limit of 3 turns is reached" in decision["no_resume"]


def test_every_fact_of_a_host_has_a_place_in_the_protocol() -> None:
    """But the verdict of a classifier, which no client has, and the look-up, which the server makes."""
    told = set(SCHEMAS.files["common.json"]["$defs"]["host"]["properties"])
    known = {field.name for field in attrs.fields(HostFacts)}
    assert known - told == {"classification", "lookup"}
    assert told <= known


def test_a_plugin_can_be_switched_off_and_on_again() -> None:
    with serving() as client:
        client.open(disable=["tool-tail", "not-installed-here"])
        assert client.ask("session/status", session="s")["switched_off"] == ["tool-tail"]
        assert client.ask("session/toggle", session="s", enable=["tool-tail"])["switched_off"] == []


def test_budgets_belong_to_the_users_request() -> None:
    with serving() as client:
        client.open(settings={"max_resumes": 1})

        def resumes() -> bool:
            return bool(client.ask("run/turn_ended", session="s", turn=turn("length"))["resume"])

        client.ask("run/started", session="s")
        assert (resumes(), resumes()) == (True, False)
        client.ask("run/started", session="s", continues=True)
        assert not resumes()
        client.ask("run/started", session="s")
        assert resumes()


def test_a_resume_that_the_host_could_not_make_costs_nothing() -> None:
    with serving() as client:
        client.open(settings={"max_resumes": 1})
        client.ask("run/started", session="s")
        for _ in range(3):
            assert client.ask("run/turn_ended", session="s", turn=turn("length"))["resume"]
            client.ask("run/unscheduled", session="s", why="the entry is gone")
        assert client.ask("run/settled", session="s")["report"]["resumes"] == 0


def test_history_is_told_once_and_projected_before_every_request() -> None:
    user = {"ref": "u1", "role": "user", "text": "task"}
    broken = {"ref": "a1", "role": "assistant", "text": "", "calls": ["c"], "stop_reason": "error"}
    with serving() as client:
        client.open()
        client.ask("run/started", session="s")
        assert client.ask("run/project", session="s", entries=[user])["omit"] == []
        assert client.ask("run/project", session="s", keep=1, entries=[broken])["omit"] == ["a1"]
        assert client.ask("run/project", session="s", keep=2)["omit"] == ["a1"]
        assert client.ask("run/project", session="s", keep=1)["omit"] == []
        assert client.refusal("run/project", session="s", keep=2)[0] == -32004


def test_a_long_history_is_told_in_parts() -> None:
    entries = [{"ref": f"u{number}", "role": "user", "text": "x"} for number in range(3)]
    broken = {"ref": "a1", "role": "assistant", "stop_reason": "error"}
    with serving() as client:
        client.open()
        client.ask("run/started", session="s")
        told = client.ask("run/project", session="s", entries=[broken], partial=True)
        assert told == {"omit": [], "replace": [], "inject": []}
        assert client.ask("run/project", session="s", keep=1, entries=entries)["omit"] == ["a1"]


def test_an_entry_that_somebody_put_back_is_shown_again() -> None:
    entries = [{"ref": "u1", "role": "user", "text": "x"}, {"ref": "a1", "role": "assistant", "text": "cut"}]
    with serving() as client:
        client.open()
        client.ask("run/started", session="s")
        client.ask("run/turn_ended", session="s", turn=turn("length"))
        assert client.ask("run/project", session="s", entries=entries)["omit"] == ["a1"]
        assert client.ask("run/project", session="s", keep=2, restored=["a1"])["omit"] == []


def test_artefacts_are_left_out_in_mode_off_too() -> None:
    entries = [{"ref": "u1", "role": "user", "text": "x"}, {"ref": "c1", "role": "user", "artefact": True}]
    with serving() as client:
        client.open(settings={"mode": "off"})
        client.ask("run/started", session="s")
        assert client.ask("run/project", session="s", entries=entries)["omit"] == ["c1"]


def test_a_text_that_settings_allow_to_inject_has_its_place() -> None:
    entries = [{"ref": "u1", "role": "user", "text": "task"}]
    with serving() as client:
        client.open(settings={"allow_injection": ["partial-checkpoint"]})
        client.ask("run/started", session="s")
        client.ask("run/turn_ended", session="s", turn=turn("length", "HALF"))
        [injected] = client.ask("run/project", session="s", entries=entries)["inject"]
        assert injected["after"] == "u1"
        assert "HALF" in injected["text"]


def test_request_settings_of_a_plugin_reach_the_host() -> None:
    settings = {"plugins": {"length-resume": {"output_limit_factor": 2, "reasoning_effort": "low"}}}
    with serving() as client:
        client.open(settings=settings)
        client.ask("run/started", session="s")
        decision = client.ask("run/turn_ended", session="s", turn=turn("length"), host={"output_limit": 100})
        assert decision["adjust"] == {"max_output_tokens": 200, "reasoning_effort": "low"}


def test_a_limit_of_the_run_is_told_to_the_host() -> None:
    with serving() as client:
        client.open(settings={"plugins": {"run-limits": {"max_requests": 1}}})
        client.ask("run/started", session="s")
        decision = client.ask("run/turn_ended", session="s", turn=turn("length"))
        assert not decision["resume"]
        assert "1 of 1 requests" in decision["end_run"]


def test_only_the_events_asked_for_are_told() -> None:
    with serving() as client:
        client.open(events=["run_settled"])
        client.ask("run/started", session="s")
        client.ask("run/turn_ended", session="s", turn=turn())
        client.ask("run/settled", session="s")
        assert [note["params"]["event"]["kind"] for note in client.notes] == ["run_settled"]


def test_a_boundary_out_of_turn_is_refused() -> None:
    with serving() as client:
        client.open()
        assert client.refusal("run/turn_ended", session="s", turn=turn())[0] == -32003
        client.ask("run/started", session="s")
        assert client.refusal("run/before_settle", session="s")[0] == -32003
        assert client.ask("run/settled", session="s")["report"]["turns"] == 0
        assert client.ask("run/settled", session="s")["report"] is None


def test_a_closed_session_is_gone_and_its_wait_ended() -> None:
    with serving(standing_clock()) as client:
        client.open()
        held = start_wait(client)
        client.ask("session/close", session="s")
        assert client.result(held)["outcome"] == "cancelled"
        assert client.refusal("session/status", session="s")[0] == -32002


def test_incomplete_runs_are_never_raised_at_a_host_in_another_language() -> None:
    with serving() as client:
        client.open(settings={"incomplete": "raise", "max_resumes": 0})
        client.ask("run/started", session="s")
        client.ask("run/turn_ended", session="s", turn=turn("length"))
        assert client.ask("run/settled", session="s")["report"]["outcome"] == "incomplete"


def test_the_server_ends_while_a_wait_is_held() -> None:
    with serving(standing_clock()) as client:
        client.open()
        start_wait(client)


class Stuck:
    """A plugin that never comes back, until the test lets it."""

    order = Order(stage=Stage.RECOVER)
    entered = threading.Event()
    released = threading.Event()

    @hookimpl
    def continuity_turn_ended(self, boundary: Boundary, proposal: Proposal) -> None:
        self.entered.set()
        self.released.wait(20)


def test_a_plugin_that_is_stuck_does_not_keep_the_process_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: queue.Queue[int] = queue.Queue()

    def load(fields: Any, on_event: Any, clock: Any) -> Continuity:
        return Continuity.from_settings({}, plugins=[Stuck()], clock=clock, on_event=on_event)

    monkeypatch.setattr("continuity_core.hosts.stdio.serving.GRACE_SECONDS", 0.05)
    Stuck.released.clear()
    with serving(load=load, end_process=ended.put) as client:
        client.open()
        client.ask("run/started", session="s")
        client.start("run/turn_ended", session="s", turn=turn())
        assert Stuck.entered.wait(20)
        client.close()
        assert ended.get(timeout=20) == 1
        Stuck.released.set()
