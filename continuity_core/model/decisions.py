"""What a plugin may say at a boundary. One hook call returns one bundle of these."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, TypeAlias

import attrs
from attrs.validators import ge, optional

from continuity_core.model.checks import exactly_one, instant_or_none, seconds_or_none, some_count, some_text
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


def _entry_ref(_: object, attribute: attrs.Attribute[EntryRef], value: object) -> None:
    if not isinstance(value, EntryRef):
        raise TypeError(f"{attribute.name} must be an EntryRef that the host issued, not {value!r}")


@attrs.frozen
class Resume:
    """Ask the host for one more model turn."""

    reason: str = attrs.field(validator=some_text)
    budget: str | None = None
    """The plugin's own budget that is charged beside ``max_resumes``, by the name it declared."""


@attrs.frozen(kw_only=True)
class Wait:
    """Hold before the next turn: ``seconds`` or ``until``, exactly one of them."""

    seconds: float | None = attrs.field(default=None, validator=seconds_or_none)
    until: datetime | None = attrs.field(default=None, validator=instant_or_none)
    why: str = attrs.field(validator=some_text)
    stated: bool = False
    """The provider said so: it is held in full or there is no resume at all."""
    cap: float | None = attrs.field(default=None, validator=seconds_or_none)
    """Seconds. A wait of our own is cut down to it; a stated wait beyond it ends recovery."""

    def __attrs_post_init__(self) -> None:
        exactly_one("Wait", seconds=self.seconds, until=self.until)

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
    why: str = attrs.field(validator=some_text)


@attrs.frozen
class Replace:
    """Show other, narrower content in place of the entry's: ``content`` becomes its only text."""

    entry: EntryRef = attrs.field(validator=_entry_ref)
    content: str = attrs.field(validator=some_text)
    why: str = attrs.field(validator=some_text)


@attrs.frozen(kw_only=True)
class Adjust:
    """Request settings for the next turn only, in hosts that can change them."""

    max_output_tokens: int | None = attrs.field(default=None, validator=optional([some_count, ge(1)]))
    reasoning_effort: ReasoningEffort | None = attrs.field(
        default=None, converter=attrs.converters.optional(ReasoningEffort)
    )

    def __attrs_post_init__(self) -> None:
        if self.max_output_tokens is None and self.reasoning_effort is None:
            raise ValueError("Adjust changes nothing: give max_output_tokens, reasoning_effort, or both")


@attrs.frozen
class Inject:
    """Text that the model will see. Only from plugins that ``allow_injection`` names."""

    text: str = attrs.field(validator=some_text)


@attrs.frozen
class Remember:
    """Give the plugin this value back as ``run.memory``: JSON of at most 4 KiB."""

    value: JSONValue


@attrs.frozen
class Halt:
    """No resume for the rest of this run."""

    reason: str = attrs.field(validator=some_text)
    end_run: bool = False
    """Ask the host to end the run now, where it can."""


Edit: TypeAlias = Omit | Replace
Decision: TypeAlias = Resume | Wait | Omit | Replace | Adjust | Inject | Remember | Halt

DECISIONS: tuple[type[Decision], ...] = (Resume, Wait, Omit, Replace, Adjust, Inject, Remember, Halt)
EDITS: tuple[type[Edit], ...] = (Omit, Replace)
