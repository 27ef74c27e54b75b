"""Rules of a user's own, for gateways with their own wording."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import attrs

from continuity_core.model.cause import CauseKind, Guidance

RuleSyntax: TypeAlias = Literal["literal", "re2"]

RULE_KINDS = frozenset(
    {
        CauseKind.LENGTH,
        CauseKind.TRANSIENT,
        CauseKind.RATE_LIMIT,
        CauseKind.USAGE_LIMIT,
        CauseKind.CONTEXT_OVERFLOW,
        CauseKind.PERMANENT,
        CauseKind.CANCELLED,
        CauseKind.UNKNOWN,
    }
)
"""What a rule may say. The others come from a turn that did not fail."""
MATCH_LIMIT = 500
"""Characters of a rule's pattern."""


@attrs.frozen(kw_only=True)
class ErrorRule:
    """A text that ``match`` finds is a ``cause``; ``wait`` is the guidance, where the text has none.

    ``match`` is a literal, regardless of case, in which ``*`` stands for up to 160 characters. With
    ``syntax="re2"`` it is a regular expression of RE2, which takes linear time; that needs ``google-re2``.
    Raises ValueError for a pattern that matches everything, is too long or cannot be read, for a cause that
    no failure has, and for a wait that is no duration such as ``"90s"`` or ``"1h30m"``.
    """

    match: str = attrs.field(validator=attrs.validators.max_len(MATCH_LIMIT))
    cause: CauseKind = attrs.field(converter=CauseKind)
    wait: str | float | None = None
    name: str = ""
    syntax: RuleSyntax = attrs.field(default="literal", validator=attrs.validators.in_(("literal", "re2")))
    _matches: Callable[[str], bool] = attrs.field(init=False, repr=False, eq=False)
    _guidance: Guidance | None = attrs.field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        if self.cause not in RULE_KINDS:
            allowed = ", ".join(sorted(RULE_KINDS))
            raise ValueError(
                f"an error rule's cause is one of {allowed}; {self.cause} comes from a turn that did not fail"
            )
        object.__setattr__(self, "_matches", _matcher(self.match, self.syntax))
        object.__setattr__(self, "_guidance", _guidance(self.wait))

    def __str__(self) -> str:
        wait = "" if self.wait is None else f", wait {self.wait}"
        return f"{self.match!r}: {self.cause}{wait}"

    @property
    def label(self) -> str:
        """What ``Cause.rule`` calls it."""
        return f"rule:{self.name or self.match}"

    @property
    def guidance(self) -> Guidance | None:
        """The wait that the rule states, if it does."""
        return self._guidance

    def matches(self, text: str) -> bool:
        """Whether the rule applies to the flattened lower-case ``text``."""
        return self._matches(text)


def first_rule(rules: Sequence[ErrorRule], text: str) -> ErrorRule | None:
    """The first rule that applies."""
    for rule in rules:
        if rule.matches(text):
            return rule
    return None


def _matcher(pattern: str, syntax: RuleSyntax) -> Callable[[str], bool]:
    from continuity_core.errors.matching import Phrase
    from continuity_core.errors.normalising import flat

    if syntax == "literal":
        return Phrase.literal(flat(pattern)).matches
    try:
        re2 = importlib.import_module("re2")
    except ImportError:
        raise ValueError(
            f"the rule {pattern!r} is in RE2's syntax: install google-re2, or write a literal with '*'"
        ) from None
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False  # else RE2 writes to standard error by itself
    try:
        compiled = re2.compile(pattern, options)
    except Exception as error:
        told = error.args[0] if error.args else ""
        reason = told.decode(errors="replace") if isinstance(told, bytes) else error
        raise ValueError(f"the rule {pattern!r} cannot be read as RE2: {reason}") from None
    if compiled.search("") is not None:
        raise ValueError(f"{pattern!r} matches everything, the empty text, too")
    return lambda text: compiled.search(text.encode(errors="replace")) is not None


def _guidance(wait: str | float | None) -> Guidance | None:
    if wait is None:
        return None
    if isinstance(wait, str):
        from continuity_core.errors.durations import read_duration

        text = wait.strip().lower()
        duration = read_duration(text, 0)
        if duration is None or duration.end != len(text):
            raise ValueError(f"an error rule's wait is a duration such as '90s' or '1h30m', not {wait!r}")
        return Guidance(seconds=duration.seconds, evidence="the rule's wait")
    if isinstance(wait, bool):
        raise ValueError("an error rule's wait is a duration or a number of seconds, not a truth value")
    return Guidance(seconds=float(wait), evidence="the rule's wait")
