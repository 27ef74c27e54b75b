from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from continuity_core.errors import CauseKind, ErrorRule, Failure, classify


def test_the_first_rule_that_matches_decides_before_everything_else() -> None:
    rules = [
        ErrorRule(match="never said", cause=CauseKind.PERMANENT),
        ErrorRule(match="too many * requests", cause=CauseKind.TRANSIENT, name="ours"),
        ErrorRule(match="too many", cause=CauseKind.PERMANENT),
    ]
    cause = classify(Failure.from_text("429 Too MANY angry Requests", status=429), rules=rules)
    assert cause.kind is CauseKind.TRANSIENT
    assert cause.rule == "rule:ours"


def test_a_rule_says_how_long_to_wait_where_the_text_does_not() -> None:
    rules = [ErrorRule(match="snooze", cause=CauseKind.USAGE_LIMIT, wait="1h30m")]
    assert classify(Failure.from_text("snooze"), rules=rules).guidance[0].seconds == 5400
    assert classify(Failure.from_text("snooze, retry in 5s"), rules=rules).guidance[0].seconds == 5


def test_a_cause_that_no_wait_helps_gets_none() -> None:
    rules = [ErrorRule(match="snooze", cause=CauseKind.PERMANENT, wait=90)]
    assert classify(Failure.from_text("snooze"), rules=rules).guidance == ()


def test_a_star_stands_for_a_bounded_gap_and_nothing_else_is_special() -> None:
    rules = [ErrorRule(match="a.c * (x+)", cause=CauseKind.PERMANENT)]
    assert classify(Failure.from_text("a.c then (x+)"), rules=rules).kind is CauseKind.PERMANENT
    assert classify(Failure.from_text("abc then (xx)"), rules=rules).kind is CauseKind.UNKNOWN
    assert classify(Failure.from_text("a.c " + "y " * 200 + "(x+)"), rules=rules).kind is CauseKind.UNKNOWN


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"match": "*", "cause": "permanent"}, "matches everything"),
        ({"match": "x" * 501, "cause": "permanent"}, "must be <= 500"),
        ({"match": "x", "cause": "final"}, "comes from a turn that did not fail"),
        ({"match": "x", "cause": "nonsense"}, "nonsense"),
        ({"match": "x", "cause": "transient", "wait": "soon"}, "is a duration"),
        ({"match": "x", "cause": "transient", "wait": True}, "truth value"),
        ({"match": "x", "cause": "transient", "wait": -1}, "seconds"),
        ({"match": "x", "cause": "transient", "syntax": "perl"}, "syntax"),
    ],
)
def test_a_rule_that_cannot_work_is_refused_with_the_reason(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ErrorRule(**given)


def test_re2_syntax_without_re2_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)
    with pytest.raises(ValueError, match="install google-re2"):
        ErrorRule(match="x+", cause=CauseKind.TRANSIENT, syntax="re2")


def test_re2_syntax_is_read_by_re2(monkeypatch: pytest.MonkeyPatch) -> None:
    class Compiled:
        def __init__(self, pattern: str) -> None:
            self.literal = pattern.removeprefix("(?i)")

        def search(self, text: str) -> object:
            return True if self.literal in text else None

    monkeypatch.setitem(sys.modules, "re2", SimpleNamespace(compile=Compiled))
    rules = [ErrorRule(match="snooze", cause=CauseKind.TRANSIENT, syntax="re2")]
    assert classify(Failure.from_text("please SNOOZE"), rules=rules).kind is CauseKind.TRANSIENT
    assert classify(Failure.from_text("please wait"), rules=rules).kind is CauseKind.UNKNOWN


def test_a_pattern_that_re2_refuses_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(pattern: str) -> object:
        raise RuntimeError("missing )")

    monkeypatch.setitem(sys.modules, "re2", SimpleNamespace(compile=refuse))
    with pytest.raises(ValueError, match="missing"):
        ErrorRule(match="(x", cause=CauseKind.TRANSIENT, syntax="re2")


def test_a_rule_is_shown_in_a_few_words() -> None:
    assert str(ErrorRule(match="team * used up", cause="usage_limit", wait="1h")) == (
        "'team * used up': usage_limit, wait 1h"
    )
    assert str(ErrorRule(match="draining", cause="transient")) == "'draining': transient"
