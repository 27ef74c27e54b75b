"""Looking into whatever an SDK or a server hands over."""

from __future__ import annotations

import pytest

from continuity_core.model.reading.errors_in_band import error_within
from continuity_core.model.reading.fields import arguments_text, as_json, field, number


class Hostile:
    """An object whose attributes and methods raise."""

    @property
    def usage(self) -> int:
        raise RuntimeError("not loaded")

    def model_dump(self, **_: object) -> dict[str, object]:
        raise RuntimeError("not loaded")


def test_an_attribute_that_raises_is_missing() -> None:
    assert field(Hostile(), "usage") is None
    assert field({"usage": 1}, "usage") == 1
    assert field(None, "usage") is None


def test_json_of_anything_is_stable() -> None:
    assert as_json({"b": 1, "a": [Hostile()]}) == '{"a": ["<Hostile>"], "b": 1}'
    assert as_json({1: "a", "b": 2}) == "<dict>"


@pytest.mark.parametrize(
    ("value", "tokens"), [(3, 3), (3.0, 3), (True, None), (-1, None), ("3", None), (float("nan"), None)]
)
def test_only_a_count_is_a_number_of_tokens(value: object, tokens: int | None) -> None:
    assert number(value) == tokens


def test_arguments_come_as_text() -> None:
    assert arguments_text(None) == ""
    assert arguments_text('{"n":1}') == '{"n":1}'
    assert arguments_text({"n": 1}) == '{"n": 1}'


@pytest.mark.parametrize("error", [None, False, ""])
def test_no_error_is_none(error: object) -> None:
    assert error_within({"error": error}) is None


def test_a_status_of_an_error_may_be_a_text() -> None:
    failure = error_within({"error": {"code": "503", "detail": "busy"}})
    assert failure is not None
    assert (failure.status, failure.code, failure.message) == (503, None, "busy")
    assert (error_within({"error": {"code": True, "message": "x"}}) or failure).code is None


def test_an_error_without_a_message_shows_its_body() -> None:
    failure = error_within({"error": {"kind": "odd"}})
    assert failure is not None
    assert failure.message == '{"error": {"kind": "odd"}}'
