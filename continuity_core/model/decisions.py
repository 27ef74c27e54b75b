"""What a plugin may say at a boundary. One hook call returns one bundle of these."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, TypeAlias

import attrs

from continuity_core.model.entries import EntryRef

JSONValue: TypeAlias = Any
"""``None``, ``bool``, ``int``, finite ``float``, ``str``, and lists and string-keyed dicts of these."""


class ReasoningEffort(StrEnum):
    """How hard a model is asked to think, from least to most."""

    NONE = "none"
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"

    @property
    def rank(self) -> int:
        """Place in the order from least to most."""
        return list(ReasoningEffort).index(self)


def _some_text(_: object, attribute: attrs.Attribute[str], value: object) -> None:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{attribute.name} must be text that says something, not {value!r}")


def _entry_ref(_: object, attribute: attrs.Attribute[EntryRef], value: object) -> None:
    if not isinstance(value, EntryRef):
        raise TypeError(f"{attribute.name} must be an EntryRef that the host issued, not {value!r}")


@attrs.frozen
class Resume:
    """Ask the host for one more model turn."""

    reason: str = attrs.field(validator=_some_text)
    budget: str | None = None
    """The plugin's own budget that is charged beside ``max_resumes``, by the name it declared."""


@attrs.frozen(kw_only=True)
class Wait:
    """Hold before the next turn: ``seconds`` or ``until``, exactly one of them."""

    seconds: float | None = None
    until: datetime | None = None
    why: str = attrs.field(validator=_some_text)
    stated: bool = False
    """The provider said so: it is held in full or there is no resume at all."""
    cap: float | None = None
    """Seconds. A wait of our own is cut down to it; a stated wait beyond it ends recovery."""

    def __attrs_post_init__(self) -> None:
        if (self.seconds is None) == (self.until is None):
            raise ValueError("Wait takes exactly one of seconds and until")
        for name, value in (("seconds", self.seconds), ("cap", self.cap)):
            if value is not None and not (
                isinstance(value, int | float) and math.isfinite(value) and value >= 0
            ):
                raise ValueError(f"Wait.{name} must be a finite number of seconds >= 0, not {value!r}")
        if self.until is not None and self.until.tzinfo is None:
            raise ValueError("Wait.until must carry a time zone")

    def seconds_from(self, now: datetime) -> float:
        """Its length in seconds if it starts at ``now``; a stated wait is not cut down to the cap."""
        if self.until is not None:
            length = max(0.0, (self.until - now).total_seconds())
        else:
            assert self.seconds is not None
            length = float(self.seconds)
        if self.cap is not None and not self.stated:
            length = min(length, self.cap)
        return length

    def end_from(self, now: datetime) -> datetime:
        """The instant of its end if it starts at ``now``."""
        return now + timedelta(seconds=self.seconds_from(now))


@attrs.frozen
class Omit:
    """Leave the entry out of the projection."""

    entry: EntryRef = attrs.field(validator=_entry_ref)
    why: str = attrs.field(validator=_some_text)


@attrs.frozen
class Replace:
    """Show other, narrower content in place of the entry's: ``content`` becomes its only text."""

    entry: EntryRef = attrs.field(validator=_entry_ref)
    content: str = attrs.field(validator=_some_text)
    why: str = attrs.field(validator=_some_text)


@attrs.frozen(kw_only=True)
class Adjust:
    """Request settings for the next turn only, in hosts that can change them."""

    max_output_tokens: int | None = None
    reasoning_effort: ReasoningEffort | None = attrs.field(
        default=None, converter=attrs.converters.optional(ReasoningEffort)
    )

    def __attrs_post_init__(self) -> None:
        limit = self.max_output_tokens
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
            raise ValueError(f"Adjust.max_output_tokens must be a whole number >= 1, not {limit!r}")
        if limit is None and self.reasoning_effort is None:
            raise ValueError("Adjust changes nothing: give max_output_tokens, reasoning_effort, or both")


@attrs.frozen
class Inject:
    """Text that the model will see. Only from plugins that ``allow_injection`` names."""

    text: str = attrs.field(validator=_some_text)


@attrs.frozen
class Remember:
    """Give the plugin this value back as ``run.memory``: JSON of at most 4 KiB."""

    value: JSONValue


@attrs.frozen
class Halt:
    """No resume for the rest of this run."""

    reason: str = attrs.field(validator=_some_text)
    end_run: bool = False
    """Ask the host to end the run now, where it can."""


Edit: TypeAlias = Omit | Replace
Decision: TypeAlias = Resume | Wait | Omit | Replace | Adjust | Inject | Remember | Halt

DECISIONS: tuple[type[Decision], ...] = (Resume, Wait, Omit, Replace, Adjust, Inject, Remember, Halt)
EDITS: tuple[type[Edit], ...] = (Omit, Replace)
