"""When the host is asked for one more turn, and when its own recovery or other work goes first."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from runs import answer, bundled, calls, cut, failed, make, play, ref, waits_of

from continuity_core import (
    CauseKind,
    Continuity,
    Guidance,
    HostFacts,
    Mode,
    Outcome,
    RunOutcome,
    StopReason,
    Text,
    ToolResult,
    Turn,
    Usage,
)

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
FAILURES = [CauseKind.TRANSIENT, CauseKind.RATE_LIMIT, CauseKind.UNKNOWN, CauseKind.USAGE_LIMIT]


async def test_a_cut_answer_is_left_out_and_asked_for_again_when_the_turn_ends() -> None:
    run, turn = make().start_run(), cut()
    result = await run.turn_ended(turn)
    assert result.resume
    assert result.outcome is Outcome.SCHEDULED
    assert list(result.edits) == [turn.entry]
    assert run.state.charged == 1


@pytest.mark.parametrize("kind", FAILURES)
async def test_a_failed_turn_is_left_to_the_host_first_and_resumed_before_it_settles(kind: CauseKind) -> None:
    run, turn = make().start_run(), failed(kind)
    at_end = await run.turn_ended(turn)
    assert not at_end.resume
    assert not at_end.edits
    assert at_end.outcome is Outcome.DEFERRED
    assert run.state.resumes == 0
    assert len(waits_of(run)) == 1
    at_settle = await run.before_settle()
    assert at_settle.resume
    assert list(at_settle.edits) == [turn.entry]
    assert run.state.resumes == 1
    assert len(waits_of(run)) == 1


async def test_a_cap_that_is_reported_as_an_error_is_resumed_before_settling_and_without_a_wait() -> None:
    run = make().start_run()
    assert not (await run.turn_ended(failed(CauseKind.LENGTH))).resume
    assert (await run.before_settle()).resume
    assert waits_of(run) == []


async def test_a_length_below_the_cap_is_left_to_a_host_that_recovers_lengths() -> None:
    run = make().start_run()
    below = HostFacts(recovers_length=True, output_limit=100)
    assert not (await run.turn_ended(cut(usage=Usage(output_tokens=40)), below)).resume
    assert (await run.before_settle(below)).resume


@pytest.mark.parametrize("used", [100, 101, None])
async def test_a_length_at_the_cap_is_resumed_at_once_even_in_a_host_that_recovers_lengths(
    used: int | None,
) -> None:
    run = make().start_run()
    host = HostFacts(recovers_length=True, output_limit=100)
    assert (await run.turn_ended(cut(usage=Usage(output_tokens=used)), host)).resume


async def test_a_length_below_the_cap_is_resumed_at_once_where_the_host_recovers_none() -> None:
    run = make().start_run()
    assert (await run.turn_ended(cut(usage=Usage(output_tokens=4)), HostFacts(output_limit=100))).resume


@pytest.mark.parametrize("kind", [CauseKind.CONTEXT_OVERFLOW, CauseKind.PERMANENT, CauseKind.CANCELLED])
async def test_what_recovery_cannot_mend_is_never_resumed(kind: CauseKind) -> None:
    run = make().start_run()
    played = await play(run, [failed(kind), answer()])
    assert played.resumes == 0
    assert waits_of(run) == []
    assert run.settled().outcome in (RunOutcome.FAILED, RunOutcome.ABORTED)


async def test_a_normal_answer_and_ordinary_tool_progress_get_no_extra_turn() -> None:
    run = make().start_run()
    played = await play(run, [calls("step"), answer()])
    assert (played.turns, played.resumes) == (2, 0)
    assert run.settled().outcome is RunOutcome.COMPLETED


@pytest.mark.parametrize("stop", [StopReason.TOOL_USE, StopReason.STOP])
async def test_a_run_that_would_end_on_a_completed_tool_call_goes_on(stop: StopReason) -> None:
    run = make().start_run()
    await run.turn_ended(calls("wrap_up", stop=stop))
    result = await run.before_settle()
    assert result.resume
    assert not result.edits


async def test_a_call_without_its_result_is_no_tool_tail() -> None:
    run = make().start_run()
    await run.turn_ended(calls("wrap_up", answered=False))
    assert not (await run.before_settle()).resume


async def test_calls_followed_by_text_are_no_tool_tail() -> None:
    run, turn = make().start_run(), calls("step")
    last = Turn(
        stop_reason=StopReason.STOP,
        blocks=(*turn.blocks, Text("all done")),
        results=turn.results,
        entry=ref("t"),
    )
    await run.turn_ended(last)
    assert not (await run.before_settle()).resume


@pytest.mark.parametrize(
    "host", [HostFacts(ended_on_purpose=True), HostFacts(ending_tools=frozenset({"wrap_up"}))]
)
async def test_an_end_on_purpose_is_final_unless_tool_tail_is_told_otherwise(host: HostFacts) -> None:
    run = make().start_run()
    await run.turn_ended(calls("wrap_up"), host)
    assert not (await run.before_settle(host)).resume
    told = make(bundled(tool_tail={"on_purpose": True})).start_run()
    await told.turn_ended(calls("wrap_up"), host)
    assert (await told.before_settle(host)).resume


@pytest.mark.parametrize(
    ("options", "goes_on"),
    [({"include": ["step"]}, False), ({"exclude": ["wrap_up"]}, False), ({"include": ["wrap_up"]}, True)],
)
async def test_tool_tail_looks_at_its_lists_of_tools(options: dict[str, list[str]], goes_on: bool) -> None:
    run = make(bundled(tool_tail=options)).start_run()
    await run.turn_ended(calls("wrap_up"))
    assert (await run.before_settle()).resume is goes_on


async def test_a_turn_that_the_host_has_not_finished_is_never_resumed() -> None:
    run = make().start_run()
    pending = Turn(stop_reason=StopReason.STOP, unfinished=True, entry=ref("pending"))
    assert not (await run.turn_ended(pending)).resume
    assert not (await run.before_settle()).resume


@pytest.mark.parametrize("kind", ["steer", "follow_up"])
@pytest.mark.parametrize("turn", [cut(), failed(), answer("")])
async def test_pending_input_wins_without_wait_resume_or_charge(turn: Turn, kind: str) -> None:
    run = make().start_run()
    host = HostFacts(pending_input=kind)  # type: ignore[arg-type]
    first = await run.turn_ended(turn, host)
    second = await run.before_settle(host)
    assert not first.resume
    assert not second.resume
    assert run.state.resumes == 0
    assert waits_of(run) == []
    assert run.is_left_out(turn.entry)  # type: ignore[arg-type]


async def test_another_continuation_is_respected_and_nothing_is_edited() -> None:
    run, turn = make().start_run(), cut()
    result = await run.turn_ended(turn, HostFacts(continuation_requested=True))
    assert not result.resume
    assert turn.entry is not None
    assert not run.is_left_out(turn.entry)


async def test_a_host_that_has_no_turns_left_is_asked_for_none_and_nothing_is_held_or_charged() -> None:
    run = make().start_run()
    host = HostFacts(no_more_turns="the limit of 5 turns is reached")
    turn = failed(CauseKind.TRANSIENT, failure={})
    assert not (await run.turn_ended(turn, host)).resume
    assert not (await run.before_settle(host)).resume
    assert waits_of(run) == []
    assert run.state.charged == 0
    assert run.report().no_resume == "the limit of 5 turns is reached"


async def test_an_aborted_turn_is_terminal_whatever_its_text_says() -> None:
    run = make().start_run()
    turn = failed(CauseKind.TRANSIENT, failure={})
    assert not (await run.turn_ended(turn, HostFacts(aborted=True))).resume
    assert run.cause is CauseKind.CANCELLED
    assert not (await run.before_settle(HostFacts(aborted=True))).resume


async def test_after_an_abort_nothing_more_is_asked_for() -> None:
    run = make().start_run()
    run.abort()
    run.abort()
    assert not (await run.turn_ended(cut())).resume
    assert not (await run.before_settle()).resume
    assert run.settled().outcome is RunOutcome.ABORTED


async def test_in_observe_mode_the_host_is_told_nothing_and_the_event_says_what_would_have_been() -> None:
    run = make(mode=Mode.OBSERVE).start_run()
    result = await run.turn_ended(cut())
    assert (result.resume, result.outcome, dict(result.edits)) == (False, Outcome.OBSERVED, {})
    assert run.state.resumes == 0
    assert run.report().events[-1].data["resume"]["plugin"] == "length-resume"


async def test_switched_off_nothing_is_decided_but_the_cause_is_known() -> None:
    run = make(mode=Mode.OFF).start_run()
    await run.turn_ended(failed())
    assert not (await run.before_settle()).resume
    assert run.report().cause is CauseKind.TRANSIENT


async def test_a_turn_that_ended_while_recovery_was_off_is_not_resumed_without_its_wait() -> None:
    continuity = make(mode=Mode.OFF)
    run = continuity.start_run()
    await run.turn_ended(failed(CauseKind.USAGE_LIMIT))
    continuity.enable()
    assert not (await run.before_settle()).resume


async def test_native_retries_that_come_next_are_not_delayed_but_by_a_usage_limit() -> None:
    host = HostFacts(retry_follows=True)
    run = make().start_run()
    assert not (await run.turn_ended(failed(CauseKind.TRANSIENT), host)).resume
    assert waits_of(run) == []
    limited = make(bundled(guidance=(Guidance(seconds=60),))).start_run()
    assert not (await limited.turn_ended(failed(CauseKind.USAGE_LIMIT), host)).resume
    assert waits_of(limited) == [60]
    assert limited.state.resumes == 0


async def test_without_any_resume_that_could_be_paid_for_no_wait_is_held() -> None:
    run = make(max_resumes=0).start_run()
    played = await play(run, [failed(), answer()])
    assert played.resumes == 0
    assert waits_of(run) == []


async def test_the_deadline_of_the_host_ends_recovery_where_a_stated_wait_would_pass_it() -> None:
    run = make(bundled(guidance=(Guidance(seconds=7),))).start_run()
    host = HostFacts(deadline=NOW + timedelta(seconds=6))
    result = await run.turn_ended(failed(CauseKind.RATE_LIMIT), host)
    assert result.proposal.possible_at == NOW + timedelta(seconds=7)
    assert not (await run.before_settle(host)).resume
    assert "deadline" in (run.report().no_resume or "")


async def test_our_own_delay_is_cut_to_the_deadline() -> None:
    run = make().start_run(deadline=NOW + timedelta(seconds=3))
    await run.turn_ended(failed())
    assert waits_of(run) == [3]


async def test_a_resume_that_the_host_could_not_schedule_is_not_charged() -> None:
    run, turn = make().start_run(), cut()
    assert (await run.turn_ended(turn)).resume
    run.unscheduled("another extension's draft was invalid")
    assert run.state.charged == run.state.resumes == 0
    assert turn.entry is not None
    assert not run.is_left_out(turn.entry)
    assert "invalid" in (run.report().no_resume or "")


async def test_a_wait_that_was_held_stays_counted_when_its_resume_is_taken_back() -> None:
    run = make().start_run()
    await run.turn_ended(answer(""))
    assert run.state.held == 5
    run.unscheduled("no model context")
    assert (run.state.held, run.state.resumes) == (5, 0)


async def test_an_answer_cut_in_a_call_is_left_out_with_the_hosts_error_results() -> None:
    run = make().start_run()
    call = calls("step", answered=False, stop=StopReason.LENGTH)
    result = ToolResult(call_id=call.tool_calls[0].id, entry=ref("synthetic"), is_error=True)
    turn = Turn(stop_reason=StopReason.LENGTH, blocks=call.blocks, results=(result,), entry=ref("cut"))
    resumed = await run.turn_ended(turn)
    assert set(resumed.edits) == {ref("cut"), ref("synthetic")}
    assert turn.executable_calls == ()


def test_a_cut_or_failed_turn_has_no_executable_calls() -> None:
    for stop in (StopReason.LENGTH, StopReason.ERROR, StopReason.ABORTED):
        assert calls("step", stop=stop).executable_calls == ()
    for stop in (StopReason.STOP, StopReason.TOOL_USE):
        assert len(calls("step", stop=stop).executable_calls) == 1


async def test_the_hosts_own_classifier_stands_in_where_nothing_else_knows() -> None:
    from continuity_core import Cause

    run = make().start_run()
    host = HostFacts(classification=Cause(kind=CauseKind.CONTEXT_OVERFLOW, why="the host says so"))
    await run.turn_ended(failed(CauseKind.UNKNOWN), host)
    assert run.cause is CauseKind.CONTEXT_OVERFLOW
    await run.turn_ended(failed(CauseKind.TRANSIENT), host)
    assert run.cause is CauseKind.TRANSIENT


async def test_a_tools_own_failure_is_not_the_providers() -> None:
    run = make().start_run()
    played = await play(run, [failed(CauseKind.UNKNOWN, failure={"where": "tool"})])
    assert played.resumes == 0


def test_switches_name_what_they_do_not_know() -> None:
    continuity: Continuity = make()
    with pytest.raises(ValueError, match="no plugin named 'tool-tale' is loaded"):
        continuity.disable("tool-tale")


async def test_a_single_plugin_can_be_switched_off_and_on_while_runs_go_on() -> None:
    continuity = make()
    run = continuity.start_run()
    continuity.disable("length-resume")
    assert not (await run.turn_ended(cut())).resume
    continuity.enable("length-resume")
    assert (await run.turn_ended(cut())).resume


async def test_a_wait_that_other_work_prevented_is_not_skipped_once_that_work_is_gone() -> None:
    run = make().start_run()
    await run.turn_ended(failed(CauseKind.USAGE_LIMIT), HostFacts(pending_input="steer"))
    assert not (await run.before_settle()).resume
