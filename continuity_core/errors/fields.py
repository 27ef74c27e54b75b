"""Finding named values in error text: JSON, JSON in strings, Python's and JavaScript's reprs, cut or whole.

Only names and values matter here, not where in the structure they stood: an error is nested differently by
every gateway that it passes.
"""

from __future__ import annotations

import itertools
import json
import re
import string
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from continuity_core.errors.normalising import unescape

Value: TypeAlias = str | int | float | bool | None


class Field(NamedTuple):
    """A named value."""

    name: str
    """As :func:`plain_name` gives it."""
    value: Value
    depth: int = 0
    """How many strings had to be opened to find it: a gateway quotes its provider's error in a string."""
    spelling: str = ""
    """The name as the text has it."""


FIELD_LIMIT = 512
"""Fields that are read of one text."""
NESTING_LIMIT = 5
"""JSON in a string in JSON in a string …: levels that are opened."""
VALUE_LIMIT = 4096
"""Characters that are kept of one value."""

_QUOTED_NAME = re.compile(r"(\"|'|\\\\{0,7}[\"'])([\w.@/ -]{1,64})\1\s{0,32}:\s{0,32}")
_MARK = re.compile(r"[:=](?<=[\w\s-].)\s{0,2}(?=[\w\"'\\+-])")
_MARK_LIMIT = 4 * FIELD_LIMIT
_NAME_LENGTH = range(2, 50)
_NAME_CHARACTERS = string.ascii_letters + string.digits + "_-"
_SCALAR = re.compile(r"[-+]?\d{1,20}(?:\.\d{1,20})?(?![\w.:-]{0,64}\w)|[\w+][\w.:+-]{0,127}")
_PARTS_OF_A_DURATION = {"seconds", "nanos"}
_OPTIONS = ("Some(", "some(", "Optional(", "Just(")
"""How Rust, Swift and Haskell print a value that may be absent: ``retry_after_ms=Some(1500)``."""
_QUOTE = re.compile(r"\\{0,8}[\"']")
_NAME_NOISE = re.compile(r"[^a-z0-9]")
_DECODER = json.JSONDecoder(strict=False)
"""Line breaks inside strings are a terminal's."""
_CONSTANTS: dict[str, Value] = {"null": None, "none": None, "undefined": None, "true": True, "false": False}


def plain_name(name: str) -> str:
    """``retryAfter``, ``retry_after`` and ``Retry-After`` are one name: ``retryafter``."""
    lowered = name.lower()
    if lowered.isascii() and lowered.replace("_", "").replace("-", "").isalnum():
        return lowered.replace("_", "").replace("-", "")
    return _NAME_NOISE.sub("", lowered)


def harvest(text: str) -> list[Field]:
    """The named values in ``text``, at most ``FIELD_LIMIT`` of them, in order.

    Takes time linear in the text, and raises for no text.
    """
    return list(itertools.islice(_harvest(text, 0), FIELD_LIMIT))


def _harvest(text: str, depth: int) -> Iterator[Field]:
    brace = text.find("{")
    if brace >= 0 and not text.startswith("'", brace + 1):  # a repr of Python is no JSON
        try:
            value, end = _DECODER.raw_decode(text, brace)
        except (ValueError, RecursionError):
            pass
        else:
            yield from _walk(value, depth)
            yield from _loose(text[:brace] + " " + text[end:], depth)
            return
    yield from _loose(text, depth)


def _walk(document: object, depth: int) -> Iterator[Field]:
    """The named scalars of a JSON document; strings that hold more are opened."""
    waiting: list[tuple[str, object]] = [("", document)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, dict):
            if value and value.keys() <= _PARTS_OF_A_DURATION:
                yield from _duration_of(name, value, depth)
            waiting.extend((str(key), inner) for key, inner in reversed(value.items()))
        elif isinstance(value, list):
            waiting.extend((name, inner) for inner in reversed(value))
        elif isinstance(value, str):
            yield Field(plain_name(name), value[:VALUE_LIMIT], depth, name)
            if depth < NESTING_LIMIT and ("{" in value or "=" in value or ":" in value):
                yield from _harvest(value, depth + 1)
        elif value is None or isinstance(value, bool | int | float):
            yield Field(plain_name(name), value, depth, name)


def _duration_of(name: str, value: dict[str, object], depth: int) -> Iterator[Field]:
    """A length of time as gRPC's libraries print it: ``{"seconds": "7", "nanos": 0}``."""
    try:
        seconds, nanos = (float(str(value.get(part) or 0)) for part in ("seconds", "nanos"))
    except ValueError:
        return
    yield Field(plain_name(name), seconds + nanos / 1e9, depth, name)


def _loose(text: str, depth: int) -> Iterator[Field]:
    """Names followed by a colon or an equals sign, whatever the quoting; for text that is no valid JSON."""
    if ":" in text and ("'" in text or '"' in text):
        for match in _QUOTED_NAME.finditer(text):
            value = _value_at(text, match.end())
            if isinstance(value, _Structure):
                continue
            spelling = match.group(2)
            field = Field(plain_name(spelling), value, depth + len(match.group(1)) - 1, spelling)
            yield field
            if isinstance(field.value, str) and "{" in field.value and depth < NESTING_LIMIT:
                yield from _harvest(field.value, depth + 1)
    for mark in itertools.islice(_MARK.finditer(text), _MARK_LIMIT):
        name = _name_before(text, mark.start())
        value = _value_at(text, mark.end()) if name else _STRUCTURE
        if not isinstance(value, _Structure):
            yield Field(plain_name(name), value, depth, name)


def _name_before(text: str, position: int) -> str:
    """The bare name that ends at most two blanks before ``position``; empty where there is none."""
    before = text[max(0, position - _NAME_LENGTH.stop - 2) : position]
    trimmed = before.rstrip()
    rest = trimmed.rstrip(_NAME_CHARACTERS)
    name = trimmed[len(rest) :]
    if len(name) not in _NAME_LENGTH or len(before) - len(trimmed) > 2 or not name[0].isalpha():
        return ""
    return "" if rest and (rest[-1] in ".\"'" or rest[-1].isalnum()) else name


class _Structure:
    """Stands for the beginning of an object or a list."""


_STRUCTURE = _Structure()


def _value_at(text: str, position: int) -> Value | _Structure:
    if text.startswith(_OPTIONS, position):
        position = text.index("(", position) + 1
    quote = _QUOTE.match(text, position)
    if quote is not None:
        return _string_at(text, quote.end(), quote.group())
    scalar = _SCALAR.match(text, position)
    if scalar is None:
        return _STRUCTURE
    word = scalar.group().rstrip(".:-")
    if scalar.end() == len(text) and text.count("{") > text.count("}"):
        return None  # cut off: more digits may have followed
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
