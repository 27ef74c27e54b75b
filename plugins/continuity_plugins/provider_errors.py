"""Say what a turn was, and how long its provider asks to wait."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from continuity_core import (
    Cause,
    ErrorRule,
    RunView,
    StopReason,
    Turn,
    cause_of_turn,
    classify,
    flag,
    hookimpl,
    option,
)

_RULE_KEYS = ("match", "cause", "wait", "name", "syntax")


def _rules(value: object) -> tuple[ErrorRule, ...]:
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        raise ValueError("takes a list of tables, each with match and cause")
    return tuple(_rule(number, given) for number, given in enumerate(value, 1))


def _rule(number: int, given: Any) -> ErrorRule:
    if isinstance(given, ErrorRule):
        return given
    if not isinstance(given, Mapping):
        raise ValueError(f"rule {number} is no table with match and cause, but {given!r}")
    unknown = sorted(set(given) - set(_RULE_KEYS))
    if unknown:
        raise ValueError(f"rule {number} has no {unknown[0]!r}; it takes {', '.join(_RULE_KEYS)}")
    missing = [key for key in ("match", "cause") if key not in given]
    if missing:
        raise ValueError(f"rule {number} lacks {' and '.join(missing)}")
    try:
        return ErrorRule(**given)
    except (ValueError, TypeError) as error:
        raise ValueError(f"rule {number}: {error}") from None


@attrs.frozen(kw_only=True)
class ProviderErrorsOptions:
    """What is known of gateways that word their errors in their own way."""

    rules: tuple[ErrorRule, ...] = option(
        (),
        read=_rules,
        help="Tables of match (a literal with '*'), cause and optionally wait, asked before everything else.",
    )
    reasoning_only_is_empty: bool = option(
        True, read=flag, help="Whether an answer of reasoning alone counts as empty."
    )


@attrs.frozen(eq=False)
class ProviderErrors:
    """The bundled reader, asked after everyone else's."""

    Options = ProviderErrorsOptions

    options: ProviderErrorsOptions = attrs.field(factory=ProviderErrorsOptions)

    def __attrs_post_init__(self) -> None:
        """Bring the tables in now (some 15 ms), so that no run waits for them at its first fault."""
        importlib.import_module("continuity_core.errors.classification")

    @hookimpl
    def continuity_classify(self, turn: Turn, run: RunView) -> Cause:
        if turn.failure is None or turn.stop_reason is StopReason.ABORTED or turn.unfinished:
            return cause_of_turn(turn, reasoning_only_is_empty=self.options.reasoning_only_is_empty)
        return classify(turn.failure, now=run.now, rules=self.options.rules)
