from __future__ import annotations

import re
import sys
import time
from datetime import UTC, datetime
from typing import Any

import pytest

from continuity_core.errors import CauseKind, ErrorRule, Failure, classify

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


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


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"gateway \w+ is (snoozing|asleep)", "The GATEWAY eu1 is Snoozing", True),
        (r"Gateway \w+ is (snoozing|asleep)", "the gateway eu1 is awake", False),
        (r"^budget\b.*used up$", "Budget of team\ntides used up", True),
        (r"配额\s*用完", "配额 用完", True),
        ("snooze", "\ud800 snooze", True),
    ],
)
def test_re2_syntax_is_read_by_re2(pattern: str, text: str, found: bool) -> None:
    rule = ErrorRule(match=pattern, cause=CauseKind.USAGE_LIMIT, wait="90s", syntax="re2")
    assert (classify(Failure.from_text(text), now=NOW, rules=[rule]).rule == rule.label) == found


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(x", "missing )"),
        ("(?=a)b", "invalid perl operator"),
        (r"(a)\1", "invalid escape sequence"),
        ("[z-a]", "invalid character class range"),
        ("", "matches everything"),
        ("x*", "matches everything"),
        ("\ud800", "surrogates"),
    ],
)
def test_a_pattern_that_re2_refuses_is_refused_without_a_word_of_its_own(
    pattern: str, reason: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        ErrorRule(match=pattern, cause=CauseKind.TRANSIENT, syntax="re2")
    assert capfd.readouterr().err == ""


def test_a_pattern_that_others_would_hang_at_takes_linear_time() -> None:
    rule = ErrorRule(match="(a+)+$", cause=CauseKind.TRANSIENT, syntax="re2")
    start = time.process_time()
    assert not rule.matches("a" * 100_000 + "b")
    assert time.process_time() - start < 0.5


def test_a_rule_is_shown_in_a_few_words() -> None:
    assert str(ErrorRule(match="team * used up", cause="usage_limit", wait="1h")) == (
        "'team * used up': usage_limit, wait 1h"
    )
    assert str(ErrorRule(match="draining", cause="transient")) == "'draining': transient"
