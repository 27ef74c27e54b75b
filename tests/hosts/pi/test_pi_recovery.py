"""Runs that would be lost, on the real Pi."""

from __future__ import annotations

import pytest
from pi_runs import ALONE, CAP, DONE, QUICK, PiHome, broken, cut, cut_below_cap, refusal

TERMINATING = """
  pi.registerTool({
    name: "finish", label: "Finish", description: "Finishes.", parameters: { type: "object", properties: {} },
    async execute() {
      return { content: [{ type: "text", text: "FINISHED" }], details: {}, terminate: true };
    },
  });
"""
CALL = {"tool_calls": [{"name": "finish", "arguments": "{}"}]}
USAGE_LIMIT = "You have hit your ChatGPT usage limit (plus plan). Try again in ~0 min."


def test_an_answer_cut_at_the_cap_ends_pi_alone_and_is_asked_for_again_with_us(home: PiHome) -> None:
    alone = home.print([cut(), DONE], extensions=[ALONE])
    assert (alone.status, alone.output.strip(), len(alone.requests)) == (1, "half an answer", 1)
    recovered = home.print([cut(), DONE])
    assert (recovered.status, recovered.output.strip(), len(recovered.requests)) == (0, "done", 2)
    assert not recovered.requests[1].mentions("half an answer")


def test_history_keeps_the_cut_answer_and_one_edit_leaves_it_out(home: PiHome) -> None:
    printed = home.print([cut("KEPT"), DONE])
    [kept] = [entry for entry in printed.entries if "KEPT" in str(entry)]
    assert kept["message"]["stopReason"] == "length"
    assert kept["message"]["usage"]["output"] == CAP
    assert printed.edits == [kept["id"]]


def test_nothing_is_said_to_the_model(home: PiHome) -> None:
    printed = home.print([cut(), broken(), DONE], *QUICK)
    assert [request.user_texts for request in printed.requests] == [("Finish the task",)] * 3


def test_a_length_below_the_cap_that_pi_silently_drops_is_recovered(home: PiHome) -> None:
    home.settings["compaction"] = {"enabled": True}
    alone = home.print([cut_below_cap(), DONE], extensions=[ALONE])
    assert (alone.status, alone.output.strip(), len(alone.requests)) == (0, "", 1)
    recovered = home.print([cut_below_cap(), DONE])
    assert (recovered.status, recovered.output.strip(), len(recovered.requests)) == (0, "done", 2)


@pytest.mark.parametrize(
    "failure",
    [
        cut_below_cap(),
        refusal(400, "This model's maximum context length is 10 tokens.", code="context_length_exceeded"),
    ],
    ids=["below-cap", "overflow"],
)
def test_pis_own_compaction_and_retry_are_as_without_us(home: PiHome, failure: dict[str, object]) -> None:
    home.settings["compaction"] = {"enabled": True, "keepRecentTokens": 1, "reserveTokens": 16}
    script = [{"text": "first " * 20}, failure, {"text": "SUMMARY"}, {"text": "SUMMARY"}, DONE]
    prompts = ("One " * 40, "Two")
    alone = home.print(script, prompts=prompts, extensions=[ALONE])
    with_us = home.print(script, prompts=prompts)
    assert len(alone.requests) >= 4
    assert [request.messages for request in with_us.requests] == [
        request.messages for request in alone.requests
    ]
    assert (with_us.status, with_us.output) == (alone.status, alone.output)


def test_pis_retry_goes_first_and_is_no_resume_of_ours(home: PiHome) -> None:
    home.settings["retry"] = {"enabled": True, "maxRetries": 1, "baseDelayMs": 1}
    printed = home.print([refusal(503, "overloaded"), DONE], "--continuity-stream-delay-ms", "60000")
    assert (printed.output.strip(), len(printed.requests), printed.ours) == ("done", 2, [])


def test_when_pis_retries_are_spent_one_resume_follows_after_one_wait(home: PiHome) -> None:
    home.settings["retry"] = {"enabled": True, "maxRetries": 2, "baseDelayMs": 1}
    flags = ("--continuity-max-resumes", "1", *QUICK)
    printed = home.print([refusal(503, "overloaded")] * 3 + [DONE], *flags)
    assert (printed.output.strip(), len(printed.requests)) == ("done", 4)
    assert len([line for line in printed.ours if "waits" in line]) == 1


def test_after_a_resume_pi_has_its_retries_again(home: PiHome) -> None:
    home.settings["retry"] = {"enabled": True, "maxRetries": 1, "baseDelayMs": 1}
    printed = home.print([refusal(503, "overloaded")] * 3 + [DONE], *QUICK)
    assert (printed.output.strip(), len(printed.requests)) == ("done", 4)
    assert len([line for line in printed.ours if "waits" in line]) == 1


def test_a_persistent_failure_stays_pis_failure(home: PiHome) -> None:
    home.settings["retry"] = {"enabled": True, "maxRetries": 1, "baseDelayMs": 1}
    script = [broken("PARTIAL")] * 6
    printed = home.print(script, "--continuity-stream-retries", "2", *QUICK)
    assert printed.status == 1
    assert "terminated" in printed.errors
    assert len(printed.requests) == 6
    last = [entry for entry in printed.entries if entry["type"] == "message"][-1]["message"]
    assert (last["stopReason"], last["content"][0]["text"]) == ("error", "PARTIAL")


def test_a_usage_limit_is_waited_for_before_pis_own_retry(home: PiHome) -> None:
    home.settings["retry"] = {"enabled": True, "maxRetries": 1, "baseDelayMs": 1}
    (home.work / "mine.toml").write_text('[plugins.usage-limit-wait]\nmargin = "10ms"\n')
    printed = home.print([refusal(429, USAGE_LIMIT), DONE], "--continuity-config", "mine.toml")
    assert (printed.output.strip(), len(printed.requests)) == ("done", 2)
    assert len([line for line in printed.ours if "usage limit resets" in line]) == 1


def test_retry_after_counts_although_pi_keeps_the_text_only(home: PiHome) -> None:
    throttled = {
        "http": 429,
        "headers": {"retry-after-ms": "40"},
        "body": {"error": {"message": "slow down"}},
    }
    printed = home.print([throttled, DONE], "--continuity-stream-delay-ms", "1")
    assert printed.output.strip() == "done"
    assert "retry-after-ms" in printed.ours[0]


def test_an_empty_answer_is_bounded(home: PiHome) -> None:
    printed = home.print([{"text": ""}] * 2, "--continuity-stream-retries", "1", *QUICK)
    assert (printed.status, len(printed.requests)) == (0, 2)


@pytest.mark.parametrize("status", [401, 400])
def test_a_permanent_error_is_pis_answer_at_once(home: PiHome, status: int) -> None:
    printed = home.print([refusal(status, "Incorrect API key provided")])
    assert (printed.status, len(printed.requests)) == (1, 1)


def test_a_run_that_ends_on_a_tool_goes_on_after_its_result(home: PiHome) -> None:
    tool = home.extension("tool", TERMINATING)
    printed = home.print([CALL, DONE], extensions=[tool])
    assert (printed.output.strip(), len(printed.requests)) == ("done", 2)
    assert printed.requests[1].mentions("FINISHED")
    assert printed.edits == []


def test_a_call_that_came_with_the_stop_reason_of_an_answer_is_a_tool_tail_too(home: PiHome) -> None:
    tool = home.extension("tool", TERMINATING)
    printed = home.print([{**CALL, "stop": "stop"}, DONE], extensions=[tool])
    assert (printed.output.strip(), len(printed.requests)) == ("done", 2)


def test_tool_tails_can_be_switched_off(home: PiHome) -> None:
    tool = home.extension("tool", TERMINATING)
    printed = home.print([CALL], "--continuity-tool-tail", "off", extensions=[tool])
    assert len(printed.requests) == 1


@pytest.mark.parametrize("order", [["tool", "ours"], ["ours", "tool"]])
def test_a_tool_that_ends_on_purpose_is_named_on_the_event_bus(home: PiHome, order: list[str]) -> None:
    source = (
        TERMINATING + 'pi.on("session_start", () => pi.events.emit("continuity:ending-tools", ["finish"]));'
    )
    tool = home.extension("tool", source)
    printed = home.print([CALL], extensions=[tool if name == "tool" else name for name in order])
    assert len(printed.requests) == 1


def test_calls_of_a_cut_turn_are_never_executed_with_a_spent_budget_either(home: PiHome) -> None:
    call = {"tool_calls": [{"name": "bash", "arguments": '{"command": "touch executed"}'}], "stop": "length"}
    for turn in (call, {"text": "SAID_BEFORE", **call}):
        for flags in (("--continuity-max-resumes", "0"), ()):
            printed = home.print([turn, DONE], *flags)
            assert printed.output.strip() == "done"
            assert not (home.work / "executed").exists()


def test_budgets_belong_to_the_users_request_and_not_to_pis_runs(home: PiHome) -> None:
    script = [cut(), cut("other"), cut(), cut("other")]
    printed = home.print(script, "--continuity-max-resumes", "1", prompts=("One", "Two"))
    assert len(printed.requests) == 4


def test_zero_resumes_send_no_extra_request(home: PiHome) -> None:
    for script in ([cut()], [broken()], [{"text": ""}]):
        assert len(home.print(script, "--continuity-max-resumes", "0", *QUICK).requests) == 1


def test_without_a_limit_the_same_bytes_still_end_the_run(home: PiHome) -> None:
    printed = home.print([cut()] * 4, "--continuity-max-resumes", "unlimited")
    assert len(printed.requests) == 4
    assert printed.status == 1


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        (("--continuity-max-resumes", "many"), "max_resumes"),
        (("--continuity-unknown-retries", "1.5"), "unknown_retries"),
        (("--continuity-stream-delay-ms", "soon"), "--continuity-stream-delay-ms"),
        (("--continuity-tool-tail", "perhaps"), "--continuity-tool-tail"),
        (("--continuity", "maybe"), "mode"),
        (("--continuity-config", "no-such-file.toml"), "no-such-file.toml"),
    ],
)
def test_an_invalid_flag_closes_recovery_and_is_named(
    home: PiHome, flags: tuple[str, str], named: str
) -> None:
    printed = home.print([cut()], *flags)
    assert (printed.status, len(printed.requests)) == (1, 1)
    [said] = printed.ours
    assert named in said
    assert "Recovery is off" in said


def test_a_project_file_may_only_tighten(home: PiHome) -> None:
    (home.work / "continuity.toml").write_text("max_resumes = 0\n")
    assert len(home.print([cut()]).requests) == 1
    (home.work / "continuity.toml").write_text("max_resumes = 100\nno_progress = 100\n")
    assert len(home.print([cut()] * 4).requests) == 4


def test_a_history_longer_than_a_line_of_the_protocol_is_told_in_parts(home: PiHome) -> None:
    source = """
  const content = "LONG ".repeat(150_000);
  pi.on("before_agent_start", () => ({ message: { customType: "other", content, display: false } }));
"""
    home.model["contextWindow"] = 100_000_000
    home.settings["compaction"] = {"enabled": False}
    other = home.extension("other", source)
    prompts = [f"Prompt {number}" for number in range(4)]
    with_history = home.print([DONE] * 3 + [cut("CUT_PART"), DONE], prompts=prompts, extensions=[other])
    assert (with_history.output.strip(), with_history.ours) == ("done", [])
    later = home.print([cut("CUT_AGAIN"), DONE], "-c", extensions=[other])
    assert (later.output.strip(), later.ours, len(later.requests)) == ("done", [], 2)


def test_observing_changes_nothing_and_says_nothing(home: PiHome) -> None:
    home.settings["retry"] = {"enabled": True, "maxRetries": 1, "baseDelayMs": 1}
    script = [broken(), broken()]
    alone = home.print(script, extensions=[ALONE])
    observed = home.print(script, "--continuity", "observe")
    assert (observed.status, observed.output, observed.errors) == (alone.status, alone.output, alone.errors)
    assert [r.messages for r in observed.requests] == [r.messages for r in alone.requests]
    assert [entry["type"] for entry in observed.entries] == [entry["type"] for entry in alone.entries]


def test_installed_and_named_at_once_it_serves_a_session_once(home: PiHome) -> None:
    twice = home.folder / "again"
    twice.mkdir()
    for file in home.ours.iterdir():
        (twice / file.name).write_text(file.read_text())
    printed = home.print([broken(), DONE], *QUICK, extensions=[twice, "ours"])
    assert (printed.output.strip(), len(printed.requests)) == ("done", 2)
    assert len(printed.ours) == 1
