from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from continuity_core.errors import Failure, classify
from continuity_core.errors.fields import FIELD_LIMIT, Value, harvest, plain_name


def values(text: str, name: str) -> list[Value]:
    return [field.value for field in harvest(text) if field.name == name]


@pytest.mark.parametrize("name", ["retryAfter", "retry_after", "Retry-After", "retry after", "RETRYAFTER"])
def test_one_name_is_one_name_however_it_is_spelt(name: str) -> None:
    assert plain_name(name) == "retryafter"


@pytest.mark.parametrize(
    "text",
    [
        '{"error":{"code":"rate_limited"}}',
        '429 {"error":{"code":"rate_limited"}} and more',
        "{'error': {'code': 'rate_limited'}}",
        "{ error: { code: 'rate_limited' } }",
        'event: error\ndata: {"error":{"code":"rate_limited"}}\n\n',
        '{"message":"{\\"error\\":{\\"code\\":\\"rate_limited\\"}}"}',
        '{\\"error\\":{\\"code\\":\\"rate_limited\\"',
        '{"error":{"code":"rate_limited","message":"cut of',
        'b\'{\\n  "code": "rate_limited"}\'',
        "code=rate_limited",
        "code: rate_limited",
        '{"a":"line\nbreak","code":"rate_limited"}',
    ],
)
def test_a_code_is_found_in_every_shape_that_errors_arrive_in(text: str) -> None:
    assert values(text, "code") == ["rate_limited"]


def test_a_string_that_was_cut_is_kept_as_far_as_it_goes() -> None:
    assert values('{"error":{"message":"Rate limit exc', "message") == ["Rate limit exc"]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("null", None),
        ("None", None),
        ("true", True),
        ("False", False),
        ("12", 12),
        ("1.5", 1.5),
        ("-3", -3.0),
    ],
)
def test_scalars_are_read_as_what_they_are(written: str, read: Value) -> None:
    assert values(f"{{'x': {written}}}", "x") == [read]


def test_what_was_quoted_deeper_has_a_greater_depth() -> None:
    text = json.dumps({"code": "outer", "raw": json.dumps({"code": "inner"})})
    assert [(field.value, field.depth) for field in harvest(text) if field.name == "code"] == [
        ("outer", 0),
        ("inner", 1),
    ]


def test_the_number_of_fields_is_bounded() -> None:
    assert len(harvest(json.dumps({f"k{number}": number for number in range(5000)}))) == FIELD_LIMIT


scalars = st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text("abc xyz", max_size=12)


@given(st.dictionaries(st.text("abcdef", min_size=3, max_size=8), scalars, max_size=8))
def test_json_and_its_python_repr_hold_the_same_fields(document: dict[str, Value]) -> None:
    def told(text: str) -> set[tuple[str, Value]]:
        return {(field.name, field.value) for field in harvest(text) if field.depth == 0}

    assert told(json.dumps({"error": document})) == told(repr({"error": document}))


def test_a_number_at_the_end_of_a_text_that_was_cut_is_not_believed() -> None:
    cut = '{"error": {"message": "slow down", "retry_after": 1'
    assert [field.value for field in harvest(cut) if field.name == "retryafter"] == [None]
    assert [field.value for field in harvest(cut + "2}}") if field.name == "retryafter"] == [12]


@pytest.mark.parametrize(
    ("name", "value", "seconds"),
    [
        ("cooldown_seconds_remaining", 30, 30),
        ("waitForSeconds", 30, 30),
        ("retry_after_minutes", 2, 120),
        ("hoursUntilReset", 3, 10800),
        ("suggestedRetryMillis", 1500, 1.5),
        ("max_wait_seconds", 30, None),
        ("limit_window_seconds", 60, None),
        ("X-Codex-Secondary-Reset-After-Seconds", 316705, None),
    ],
)
def test_a_field_that_no_table_lists_is_a_wait_by_the_words_of_its_name(
    name: str, value: int, seconds: float | None
) -> None:
    text = json.dumps({"error": {"message": "Rate limit exceeded", name: value}})
    guidance = classify(Failure.from_text(text)).guidance
    assert (guidance[0].seconds if guidance else None) == seconds
