from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from continuity_plugins.provider_errors import ProviderErrors, ProviderErrorsOptions

from continuity_core import Cause, CauseKind, Failure, Reasoning, RunView, StopReason, Text, ToolCall, Turn
from continuity_core.errors import ErrorRule

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
RUN = RunView(id="r", session="s", started_at=NOW, now=NOW)


def verdict(turn: Turn, **options: Any) -> Cause:
    return ProviderErrors(ProviderErrorsOptions(**options)).continuity_classify(turn, RUN)


def failed(text: str, **facts: Any) -> Turn:
    return Turn(stop_reason=StopReason.ERROR, failure=Failure.from_text(text), **facts)


def test_a_failed_turn_is_what_its_error_says() -> None:
    assert verdict(failed("529 Overloaded")).kind is CauseKind.TRANSIENT


def test_instants_are_read_by_the_runs_clock() -> None:
    cause = verdict(failed("usage limit reached, resets at 1pm UTC"))
    assert cause.guidance[0].wait_from(NOW) == 3600


@pytest.mark.parametrize(
    ("turn", "kind"),
    [
        (Turn(stop_reason=StopReason.STOP, blocks=(Text("done"),)), CauseKind.FINAL),
        (Turn(stop_reason=StopReason.STOP), CauseKind.EMPTY),
        (Turn(stop_reason=StopReason.STOP, blocks=(Reasoning("hm"),)), CauseKind.EMPTY),
        (Turn(stop_reason=StopReason.LENGTH, blocks=(Text("do"),)), CauseKind.LENGTH),
        (Turn(stop_reason=StopReason.TOOL_USE, blocks=(ToolCall("1", "t", "{}"),)), CauseKind.TOOL_CALLS),
        (Turn(stop_reason=StopReason.ABORTED), CauseKind.CANCELLED),
    ],
)
def test_a_turn_without_a_failure_is_what_its_stop_reason_says(turn: Turn, kind: CauseKind) -> None:
    assert verdict(turn).kind is kind


def test_an_aborted_turn_is_cancelled_whatever_its_text() -> None:
    turn = Turn(stop_reason=StopReason.ABORTED, failure=Failure.from_text("terminated"))
    assert verdict(turn).kind is CauseKind.CANCELLED


def test_an_answer_of_reasoning_alone_can_count_as_final() -> None:
    turn = Turn(stop_reason=StopReason.STOP, blocks=(Reasoning("hm"),))
    assert verdict(turn, reasoning_only_is_empty=False).kind is CauseKind.FINAL


def test_a_users_rules_come_first() -> None:
    rules = [{"match": "gateway * asleep", "cause": "usage_limit", "wait": "90s"}]
    cause = verdict(failed("529 the gateway has fallen asleep"), rules=rules)
    assert (cause.kind, cause.guidance[0].seconds) == (CauseKind.USAGE_LIMIT, 90)


def test_the_options_accept_their_own_values() -> None:
    rules = ProviderErrorsOptions(rules=[{"match": "x", "cause": "transient"}]).rules
    assert ProviderErrorsOptions(rules=rules).rules == (ErrorRule(match="x", cause=CauseKind.TRANSIENT),)


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ("text", "takes a list of tables"),
        ({"match": "x", "cause": "transient"}, "takes a list of tables"),
        (["x"], "rule 1 is no table"),
        ([{"match": "x"}], "rule 1 lacks cause"),
        ([{"match": "x", "cause": "transient", "weight": 1}], "rule 1 has no 'weight'"),
        ([{"match": "x", "cause": "transient"}, {"match": "x", "cause": "final"}], "rule 2: "),
        ([{"match": 1, "cause": "transient"}], "rule 1: "),
    ],
)
def test_a_rule_that_cannot_work_is_refused_with_its_number(rules: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ProviderErrorsOptions(rules=rules)
