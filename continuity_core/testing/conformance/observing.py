"""Comparing a host without continuity and with continuity in observe mode: both must do the same."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from continuity_core.model.masking import printable
from continuity_core.testing.conformance.observed import Observed
from continuity_core.testing.fault_server import LoggedRequest

_ID_KEY = re.compile(r"(?:.*_)?id|prompt_cache_key|user", re.ASCII)
_UUID = re.compile(r"[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}", re.ASCII)


def observe_settings(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """The scenario's settings in observe mode."""
    return {**{key: value for key, value in settings.items() if key != "enabled"}, "mode": "observe"}


def observe_differences(without: Observed, observing: Observed) -> tuple[str, ...]:
    """What the host did otherwise while continuity observed it, and what continuity did beyond observing."""
    found = [f"alone: {reason}" for reason in without.cut_short]
    found += [f"observed: {reason}" for reason in observing.cut_short]
    found += _request_differences(without.requests, observing.requests)
    if without.tools_run != observing.tools_run:
        found.append(f"tools_run: {dict(without.tools_run)} without, {dict(observing.tools_run)} observed")
    result = first_difference(_results(without), _results(observing))
    if result is not None:
        found.append(f"result{result}")
    if observing.resumes:
        found.append(f"resumes: {observing.resumes} in observe mode")
    if observing.waits:
        found.append(f"waits: {len(observing.waits)} begun in observe mode")
    alone = set(without.problems)
    found += [problem for problem in observing.problems if problem not in alone]
    return tuple(found)


def _results(observed: Observed) -> list[dict[str, Any]]:
    return [attrs.asdict(result) for result in observed.results]


def _request_differences(
    without: tuple[LoggedRequest, ...], observing: tuple[LoggedRequest, ...]
) -> Iterator[str]:
    if len(without) != len(observing):
        yield f"requests: {len(without)} without, {len(observing)} observed"
    for before, after in zip(without, observing, strict=False):
        if before.path != after.path:
            yield f"request.{after.number}: {before.path} without, {after.path} observed"
        difference = first_difference(normalised(before.body), normalised(after.body))
        if difference is not None:
            yield f"request.{after.number}: {difference}"


def normalised(body: bytes) -> Any:
    """A body as JSON in which every id is replaced by a name in the order of appearance; else as it is."""
    try:
        value = json.loads(body)
    except ValueError:
        return body
    return _Ids().without(value)


class _Ids:
    """Ids are new in each session; what counts is which of them are the same."""

    def __init__(self) -> None:
        self._seen: dict[str, str] = {}

    def without(self, value: Any, key: str = "") -> Any:
        if isinstance(value, str):
            if _ID_KEY.fullmatch(key):
                return self._name(value)
            return _UUID.sub(lambda found: self._name(found[0]), value)
        if isinstance(value, dict):
            return {name: self.without(item, name) for name, item in value.items()}
        if isinstance(value, list):
            return [self.without(item, key) for item in value]
        return value

    def _name(self, id: str) -> str:
        return self._seen.setdefault(id, f"id-{len(self._seen) + 1}")


def first_difference(before: Any, after: Any, path: str = "") -> str | None:
    """Where two JSON values differ first, with both values; ``None`` where they are the same."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys((*before, *after)):
            if key not in before or key not in after:
                return f"{path}.{key}: only {'without' if key in before else 'observed'}"
            found = first_difference(before[key], after[key], f"{path}.{key}")
            if found is not None:
                return found
        return None
    if isinstance(before, list) and isinstance(after, list):
        for place, (one, other) in enumerate(zip(before, after, strict=False), start=1):
            found = first_difference(one, other, f"{path}[{place}]")
            if found is not None:
                return found
        if len(before) != len(after):
            return f"{path}: {len(before)} items without, {len(after)} observed"
        return None
    if before == after and type(before) is type(after):
        return None
    return f"{path}: {printable(repr(before), 80)} without, {printable(repr(after), 80)} observed"
