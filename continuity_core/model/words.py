"""Enumerations of words that plugins write."""

from __future__ import annotations

from enum import StrEnum


class Words(StrEnum):
    """An enumeration that names its members where a word is none of them."""

    @classmethod
    def _missing_(cls, value: object) -> None:
        raise ValueError(f"{value!r} is no {cls.__name__}: it is one of {', '.join(cls)}")
