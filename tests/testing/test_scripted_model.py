"""The scripted model, and runs on it."""

from __future__ import annotations

import pytest

from continuity_core import (
    Boundary,
    CauseKind,
    ConfigurationError,
    Continuity,
    Decision,
    EntryRef,
    EventKind,
    Failure,
    Omit,
    Proposal,
    Resume,
    RunOutcome,
    StopReason,
    Text,
    Turn,
    Wait,
    hookimpl,
)
from continuity_core.hosts.reference import AgentSession
from continuity_core.testing import (
    PluginCheckError,
    ScriptedModel,
    ScriptOver,
    VirtualClock,
    check_plugin,
    play,
    play_async,
)
from continuity_core.testing.fault_server import ModelResponse, ScriptError

ALONE = {"max_resumes": 0}


def test_a_script_is_played_and_looked_at_in_a_few_lines() -> None:
    played = play(
        [
            {"text": "half", "cut": "rst"},
            {"text": "part", "stop": "length"},
            {"text": "done"},
            {"text": "more"},
        ]
    )
    assert played.outcome.text == "done"
    assert played.waits == (5,)
    assert [resumed.plugin for resumed in played.resumes] == ["stream-recovery", "length-resume"]
    assert played.resumes[0].budget == "retries"
    assert played.reasons[1] == "the output was cut at the output cap"
    assert [request.texts for request in played.requests] == [("Finish the task",)] * 3
    assert not played.requests[2].mentions("part")
    assert played.unused == 1
    assert played.report.cause is CauseKind.FINAL
    assert len(played.of_kind(EventKind.WAIT_STARTED)) == 1


@pytest.mark.anyio
async def test_a_script_is_played_on_either_loop() -> None:
    played = await play_async([{"text": "half", "cut": "fin"}, {"text": "done"}])
    assert (played.outcome.text, played.waits) == ("done", (5,))


def test_a_sequence_of_prompts_is_one_session() -> None:
    played = play([{"text": "one"}, {"text": "two"}], prompts=["First", "Second"])
    assert [outcome.text for outcome in played.outcomes] == ["one", "two"]
    assert played.requests[1].texts == ("First", "one", "Second")
    assert played.requests[1].user_texts == ("First", "Second")


def test_tools_run_and_their_results_are_in_the_next_request() -> None:
    def step(path: str) -> str:
        return f"read {path}"

    script = [{"tool_calls": [{"name": "step", "arguments": '{"path": "a"}'}]}, {"text": "done"}]
    played = play(script, tools=[step])
    assert dict(played.outcome.tools_run) == {"step": 1}
    assert played.requests[1].mentions("read a")
    assert played.requests[1].mentions('"path": "a"')


@pytest.mark.parametrize(
    ("written", "cause"),
    [
        ({"text": "half", "cut": "rst"}, CauseKind.TRANSIENT),
        ({"text": "half", "cut": "fin"}, CauseKind.TRANSIENT),
        ({"text": "half", "cut": "mid_json"}, CauseKind.TRANSIENT),
        ({"text": "half", "cut": "no_finish"}, CauseKind.TRANSIENT),
        ({"text": "half", "hang": True}, CauseKind.TRANSIENT),
        (
            {"text": "half", "sse_error": {"message": "Overloaded", "type": "overloaded_error"}},
            CauseKind.TRANSIENT,
        ),
        ({"text": "half", "stop": "length"}, CauseKind.LENGTH),
        ({"text": "half", "stop": "content_filter"}, CauseKind.PERMANENT),
        ({"text": ""}, CauseKind.EMPTY),
        ({"http": 429, "body": {"error": {"message": "Rate limit reached"}}}, CauseKind.RATE_LIMIT),
        ({"http": 401, "body": {"error": {"message": "Incorrect API key provided"}}}, CauseKind.PERMANENT),
        ({"http": 502, "body": "<html>Bad gateway</html>"}, CauseKind.TRANSIENT),
        (ModelResponse(text="done"), CauseKind.FINAL),
        (Turn(stop_reason=StopReason.STOP, blocks=(Text("done"),)), CauseKind.FINAL),
        (Failure.from_text("Incorrect API key provided", status=401), CauseKind.PERMANENT),
        (ConnectionResetError(104, "Connection reset by peer"), CauseKind.TRANSIENT),
    ],
)
def test_every_form_of_a_turn_is_what_it_would_be_on_the_wire(written: object, cause: CauseKind) -> None:
    assert play([written], settings=ALONE).report.cause is cause


def test_what_came_before_a_cut_is_in_the_turn_and_the_usage_of_a_length_is_at_cap() -> None:
    assert play([{"text": "half", "cut": "rst"}], settings=ALONE).outcome.text == "half"
    played = play([{"text": "half", "stop": "length"}], settings=ALONE, max_output_tokens=77)
    assert played.outcome.turn is not None
    assert played.outcome.turn.usage.output_tokens == 77
    assert played.requests[0].max_output_tokens == 77


def test_headers_are_obeyed_and_native_retries_go_first() -> None:
    throttle = {"http": 429, "headers": {"retry-after": "7"}, "body": {"error": {"message": "slow"}}}
    assert play([throttle, {"text": "done"}]).waits == (7,)
    played = play([throttle, {"text": "done"}], native_retries=1)
    assert (played.waits, played.resumes, len(played.requests)) == ((), (), 2)


def test_a_request_beyond_the_script_is_no_failure_of_the_model() -> None:
    with pytest.raises(ScriptOver, match="request 2 is beyond the script, which has 1 turn: add what"):
        play([{"text": "half", "stop": "length"}])


def test_a_turn_that_cannot_be_played_is_named() -> None:
    with pytest.raises(ScriptError, match="cut: must be one of"):
        play([{"text": "half", "cut": "half"}])


def test_a_wait_can_be_watched() -> None:
    seen: list[float] = []
    clock = VirtualClock()
    script = [{"text": "half", "cut": "rst"}, {"text": "done"}]
    played = play(script, clock=clock, on_wait=lambda number, wait: seen.append(wait.seconds))
    assert seen == [5]
    assert played.waits == (5,)
    assert play(script, clock=clock).waits == (5,)
    assert len(clock.waits) == 2


@pytest.mark.anyio
async def test_the_model_serves_any_session_and_keeps_its_requests() -> None:
    model = ScriptedModel([{"text": "half an ans", "stop": "length"}, {"text": "done"}])
    session = AgentSession(model, continuity=Continuity.from_settings({}, clock=VirtualClock()))
    outcome = await session.run("Finish the task")
    assert outcome.text == "done"
    assert len(model.requests) == 2
    assert model.unused == 0


# ------------------------------------------------------------------------------------------ plugins


class TwiceShy:
    """Asks for one more turn after an answer that says so."""

    @hookimpl
    def continuity_before_settle(self, boundary: Boundary, proposal: Proposal) -> list[Decision] | None:
        if boundary.turn.text != "ask again":
            return None
        return [
            Resume("the model asked for it"),
            *(Omit(entry, "no answer") for entry in boundary.turn.entries),
        ]


def test_a_plugin_s_author_sees_its_resumes_and_their_reasons() -> None:
    played = play([{"text": "ask again"}, {"text": "done"}], plugins=[TwiceShy()])
    assert [(resumed.plugin, resumed.reason) for resumed in played.resumes] == [
        ("twice-shy", "the model asked for it")
    ]
    assert not played.requests[1].mentions("ask again")
    assert played.report.outcome is RunOutcome.COMPLETED


def test_a_plugin_that_keeps_the_contract_passes_the_check() -> None:
    check_plugin(TwiceShy)
    check_plugin(TwiceShy())
    check_plugin("tool-tail")


class Careless:
    @hookimpl
    def continuity_turn_ended(self, boundary: Boundary) -> list[Decision]:
        if boundary.turn.failure is not None:
            raise KeyError("no such thing")
        return [Wait(seconds=1.0, why="to be sure")]

    @hookimpl
    def continuity_before_settle(self, boundary: Boundary) -> list[Decision]:
        return [Resume("once more"), Omit(EntryRef("made-up"), "never seen")]


def test_a_plugin_s_mistakes_are_named_with_the_turns_at_which_they_show() -> None:
    with pytest.raises(PluginCheckError) as caught:
        check_plugin(Careless())
    problems = caught.value.problems
    raised = next(problem for problem in problems if "KeyError" in problem)
    assert raised.startswith("continuity_turn_ended failed: ")
    assert "a broken stream" in raised
    assert "an answer" not in raised.partition("(at ")[2].split(", ")
    assert any("made-up" in problem and "Resume, Omit was refused" in problem for problem in problems)


def test_a_plugin_that_is_not_even_registered_is_refused() -> None:
    class Forgetful:
        def continuity_turn_ended(self, boundary: Boundary) -> None:
            """Without its marker."""

    with pytest.raises(ConfigurationError, match="forgetful"):
        check_plugin(Forgetful())
