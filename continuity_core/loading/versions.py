"""Comparing versions as far as ``require`` needs it.

Understood are releases of numbers, with the suffixes of PEP 440: ``1.2``, ``2!1.0``, ``1.0rc1``,
``1.0.post2``, ``1.0.dev3``, ``1.0+local`` (the local part does not count). Not understood:
``==1.*`` and ``===``.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from typing import TypeAlias

import attrs

_VERSION = re.compile(
    r"v?(?:(?P<epoch>\d{1,9})!)?(?P<release>\d{1,9}(?:\.\d{1,9}){0,19})"
    r"(?:[-_.]?(?P<stage>alpha|a|beta|b|preview|pre|rc|c)[-_.]?(?P<stage_number>\d{0,9}))?"
    r"(?:[-_.]?(?P<post>post|rev|r)[-_.]?(?P<post_number>\d{0,9})|-(?P<implicit_post>\d{1,9}))?"
    r"(?:[-_.]?(?P<dev>dev)[-_.]?(?P<dev_number>\d{0,9}))?"
    r"(?:\+[a-z0-9._-]{1,64})?",
    re.IGNORECASE,
)
_STAGES = {"a": 0, "alpha": 0, "b": 1, "beta": 1, "c": 2, "rc": 2, "pre": 2, "preview": 2}
_BEFORE_STAGES, _FINAL = -1, 3
_NO_POST, _NO_DEV = -1, 10**9

_REQUIREMENT = re.compile(
    r"\s*(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?)\s*(?P<limits>[<>=!~].*)?"
)
_LIMIT = re.compile(r"\s*(?P<comparison>>=|<=|==|!=|~=|>|<)\s*(?P<version>[^\s,]+)\s*")

VersionKey: TypeAlias = tuple[int, tuple[int, ...], int, int, int, int]

_COMPARISONS: dict[str, Callable[[VersionKey, VersionKey], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
    "~=": operator.ge,
}


def version_key(version: str) -> VersionKey:
    """A key that sorts versions as PEP 440 does; raises ``ValueError`` for what is none."""
    match = _VERSION.fullmatch(version.strip())
    if match is None:
        raise ValueError(f"{version!r} is no version such as 1.2 or 1.0rc1")
    release = [int(part) for part in match["release"].split(".")]
    while len(release) > 1 and release[-1] == 0:
        release.pop()
    post = match["implicit_post"] or (match["post_number"] or "0" if match["post"] else None)
    dev = (match["dev_number"] or "0") if match["dev"] else None
    if match["stage"]:
        stage, number = _STAGES[match["stage"].lower()], int(match["stage_number"] or 0)
    else:
        stage, number = (_BEFORE_STAGES if dev is not None and post is None else _FINAL), 0
    return (
        int(match["epoch"] or 0),
        tuple(release),
        stage,
        number,
        _NO_POST if post is None else int(post),
        _NO_DEV if dev is None else int(dev),
    )


@attrs.frozen
class Limit:
    """One comparison of a requirement."""

    comparison: str
    version: str

    def holds(self, version: str) -> bool:
        """Whether ``version`` fulfils it; raises ``ValueError`` where it cannot be read."""
        have, limit = version_key(version), version_key(self.version)
        if not _COMPARISONS[self.comparison](have, limit):
            return False
        return self.comparison != "~=" or self._same_series(have)

    def _same_series(self, have: VersionKey) -> bool:
        written = re.match(r"[vV]?(?:\d+!)?(\d+(?:\.\d+)*)", self.version)
        assert written is not None
        series = [int(part) for part in written[1].split(".")[:-1]]
        release = [*have[1], *[0] * len(series)]
        return have[0] == version_key(self.version)[0] and release[: len(series)] == series


@attrs.frozen
class Requirement:
    """A plugin or distribution that must be there, and the versions of its distribution that will do."""

    name: str
    limits: tuple[Limit, ...] = ()

    def __str__(self) -> str:
        return self.name + ",".join(f"{limit.comparison}{limit.version}" for limit in self.limits)

    @classmethod
    def parse(cls, text: str) -> Requirement:
        """Read ``name``, ``name>=1``, ``name>=1,<2``; raises ``ValueError`` with what is allowed."""
        match = _REQUIREMENT.fullmatch(text)
        if match is None:
            raise ValueError(f'{text!r} is no requirement such as "name" or "name>=1.2,<2"')
        limits = []
        for part in (match["limits"] or "").split(",") if match["limits"] else ():
            limit = _LIMIT.fullmatch(part)
            if limit is None:
                raise ValueError(
                    f"{part.strip()!r} in {text!r} is no comparison such as >=1.2 (>=, <=, ==, !=, ~=, >, <)"
                )
            try:
                version_key(limit["version"])
            except ValueError as error:
                raise ValueError(f"{text!r}: {error}") from None
            if limit["comparison"] == "~=" and "." not in limit["version"]:
                raise ValueError(
                    f"{text!r}: ~= needs a version of two numbers or more, such as ~={limit['version']}.0"
                )
            limits.append(Limit(limit["comparison"], limit["version"]))
        return cls(match["name"], tuple(limits))

    def allows(self, version: str | None) -> bool:
        """Whether a distribution of this version will do; an unknown one does only without limits."""
        if not self.limits:
            return True
        try:
            return version is not None and all(limit.holds(version) for limit in self.limits)
        except ValueError:
            return False


def requirements(value: object) -> tuple[Requirement, ...]:
    """Read a list of requirements; a text is one line of them, parted by semicolons."""
    if isinstance(value, str):
        value = [part for part in value.split(";") if part.strip()]
    if not isinstance(value, Iterable):
        raise ValueError(f'takes a list such as ["name>=1"], not {value!r}')
    read = []
    for item in value:
        if isinstance(item, Requirement):
            read.append(item)
        elif isinstance(item, str):
            read.append(Requirement.parse(item))
        else:
            raise ValueError(f"takes a list of texts, and {item!r} is none")
    return tuple(dict.fromkeys(read))
