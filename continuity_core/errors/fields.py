"""Finding named values in error text: JSON, JSON in strings, Python's and JavaScript's reprs, truncated or not.

Only names and values matter here, not where in the structure they stood: an error is nested differently by every
gateway that it passes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from continuity_core.errors.normalising import unescape

Value: TypeAlias = str | int | float | bool | None
Field: TypeAlias = tuple[str, Value]
"""A name as :func:`plain_name` gives it, and what stood there."""

FIELD_LIMIT = 512
"""Fields that are read of one text."""
NESTING_LIMIT = 5
"""JSON in a string in JSON in a string …: levels that are opened."""
VALUE_LIMIT = 4096
"""Characters that are kept of one value."""

_QUOTED_NAME = re.compile(r"(\\{0,8}[\"'])([\w.@/ -]{1,64})\1\s{0,32}:\s{0,32}")
_BARE_NAME = re.compile(r"(?<![\w.\"'-])([a-zA-Z][\w-]{1,48})\s{0,2}[:=]\s{0,2}(?=[\w\"'\\+-])")
_SCALAR = re.compile(r"[-+]?\d{1,20}(?:\.\d{1,20})?(?![\w.:-]{0,64}\w)|[\w+][\w.:+-]{0,127}")
_QUOTE = re.compile(r"\\{0,8}[\"']")
_NAME_NOISE = re.compile(r"[^a-z0-9]")
_CONSTANTS: dict[str, Value] = {"null": None, "none": None, "undefined": None, "true": True, "false": False}


def plain_name(name: str) -> str:
    """``retryAfter``, ``retry_after`` and ``Retry-After`` are one name: ``retryafter``."""
    return _NAME_NOISE.sub("", name.lower())


def harvest(text: str) -> list[Field]:
    """Every named value in ``text``, at most ``FIELD_LIMIT`` of them, in order. Linear in the text, never raises."""
    return list(_limited(_harvest(text, NESTING_LIMIT)))


def _limited(fields: Iterable[Field]) -> Iterator[Field]:
    for count, field in enumerate(fields):
        if count >= FIELD_LIMIT:
            return
        yield field


def _harvest(text: str, levels: int) -> Iterator[Field]:
    brace = text.find("{")
    if brace >= 0:
        try:
            value, end = json.JSONDecoder().raw_decode(text, brace)
        except (ValueError, RecursionError):
            pass
        else:
            yield from _walk(value, levels)
            yield from _loose(text[:brace] + " " + text[end:], levels)
            return
    yield from _loose(text, levels)


def _walk(document: object, levels: int) -> Iterator[Field]:
    """The named scalars of a JSON document; strings that hold JSON are opened."""
    waiting: list[tuple[str, object]] = [("", document)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend((plain_name(str(key)), inner) for key, inner in reversed(value.items()))
        elif isinstance(value, list):
            waiting.extend((name, inner) for inner in reversed(value))
        elif isinstance(value, str):
            yield (name, value[:VALUE_LIMIT])
            yield from _open(value, levels)
        elif value is None or isinstance(value, bool | int | float):
            yield (name, value)


def _open(text: str, levels: int) -> Iterator[Field]:
    if levels > 0 and ("{" in text or "=" in text or ": " in text):
        yield from _harvest(text, levels - 1)


def _loose(text: str, levels: int) -> Iterator[Field]:
    """Names followed by a colon or an equals sign, whatever the quoting; for text that is no valid JSON."""
    if ":" in text and ("'" in text or '"' in text):
        for match in _QUOTED_NAME.finditer(text):
            value = _value_at(text, match.end())
            if value is not _STRUCTURE:
                yield (plain_name(match.group(2)), value)  # type: ignore[misc]
                if isinstance(value, str) and levels > 0 and "{" in value:
                    yield from _harvest(value, levels - 1)
    if "=" in text or ":" in text:
        for match in _BARE_NAME.finditer(text):
            value = _value_at(text, match.end())
            if value is not _STRUCTURE:
                yield (plain_name(match.group(1)), value)  # type: ignore[misc]


_STRUCTURE = object()


def _value_at(text: str, position: int) -> object:
    quote = _QUOTE.match(text, position)
    if quote is not None:
        return _string_at(text, quote.end(), quote.group())
    scalar = _SCALAR.match(text, position)
    if scalar is None:
        return _STRUCTURE
    word = scalar.group()
    if word.lower() in _CONSTANTS:
        return _CONSTANTS[word.lower()]
    try:
        return int(word) if word.isdecimal() else float(word)
    except (ValueError, OverflowError):
        return word


def _string_at(text: str, start: int, quote: str) -> str:
    """The string that ends at the same quote, equally escaped; the rest of the text where it was cut."""
    limit = min(len(text), start + VALUE_LIMIT)
    position = start
    while True:
        end = text.find(quote, position, limit)
        if end < 0:
            return unescape(text[start:limit])
        if text[end - 1] != "\\" or end == start:
            return unescape(text[start:end])
        position = end + len(quote)
