"""The plugins that installed distributions declare, before any of them is imported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import attrs

from continuity_core.hookspecs import PROJECT_NAME
from continuity_core.loading.errors import origin
from continuity_core.loading.plugin_set import plugin_name
from continuity_core.loading.printable import describe_exception, printable
from continuity_core.loading.selection import (
    BUNDLED_DISTRIBUTION,
    LOCAL_PLUGINS,
    REDACTION,
    NamedCode,
    Selection,
    normal_name,
)

if TYPE_CHECKING:
    from importlib.metadata import Distribution


@attrs.frozen(kw_only=True, eq=False)
class Candidate:
    """A plugin that could be loaded."""

    name: str
    obtain: Callable[[], object]
    """Gives the class or, in code, the instance; imports what it must, and may raise anything."""
    distribution: str | None = None
    version: str | None = None
    given: str = ""
    """Who named it, where no distribution did: ``code``, ``load``, or ``local``: it stands in a file beside a
    trusted one, whose path is told as its distribution."""

    @property
    def bundled(self) -> bool:
        """Whether it is one of this project's own."""
        return self.distribution is not None and normal_name(self.distribution) == BUNDLED_DISTRIBUTION

    @property
    def third_party(self) -> bool:
        """Whether it is there because it is installed and for no other reason."""
        return not self.bundled and not self.given

    @property
    def names(self) -> frozenset[str]:
        """The names by which it can be disabled or required."""
        own = {normal_name(self.name)} | ({LOCAL_PLUGINS} if self.given == "local" else set())
        return frozenset(own | {normal_name(self.distribution)} if self.distribution else own)

    def __str__(self) -> str:
        return origin(self.name, self.distribution or self.given or None, self.version)


@attrs.frozen(kw_only=True)
class Discovery:
    """What the installed distributions declare."""

    candidates: tuple[Candidate, ...]
    """By name, those of this project first."""
    warnings: tuple[str, ...] = ()

    def bundled_alone(self) -> Discovery:
        """The same where nothing else is installed."""
        return Discovery(candidates=tuple(candidate for candidate in self.candidates if candidate.bundled))


def discover() -> Discovery:
    """Read the entry points of the group ``continuity`` without importing anything.

    Of a distribution that is found twice the first on the path counts. One whose entry points cannot be read
    is a warning, and the others are not harmed.
    """
    import importlib.metadata

    candidates: list[Candidate] = []
    warnings: list[str] = []
    seen: set[str] = set()
    for distribution in importlib.metadata.distributions():
        name = _folder_name(distribution)
        try:
            name = name or str(distribution.metadata["Name"])
            if normal_name(name) in seen:
                continue
            seen.add(normal_name(name))
            if f"[{PROJECT_NAME}]" not in (distribution.read_text("entry_points.txt") or ""):
                continue
            declared = [point for point in distribution.entry_points if point.group == PROJECT_NAME]
            name, version = _name_and_version(distribution, name)
        except Exception as error:
            warnings.append(
                printable(
                    f"plugins of {name or 'a distribution'} are left out: its entry points cannot be read "
                    f"({describe_exception(error)}). Reinstall it."
                )
            )
            continue
        candidates += [
            Candidate(name=point.name, obtain=point.load, distribution=name, version=version)
            for point in declared
        ]
    candidates.sort(
        key=lambda candidate: (not candidate.bundled, candidate.name, candidate.distribution or "")
    )
    return Discovery(candidates=tuple(candidates), warnings=tuple(warnings))


def named_code(code: NamedCode) -> Candidate:
    """The candidate for a class that trusted configuration names."""
    from importlib.metadata import EntryPoint

    point = EntryPoint(name=code.name, value=code.target, group=PROJECT_NAME)
    return Candidate(name=code.name, obtain=point.load, given="load")


def in_code(plugin: object) -> Candidate:
    """The candidate for an instance or class that the program hands over."""
    return Candidate(name=plugin_name(plugin), obtain=lambda: plugin, given="code")


def why_off(candidate: Candidate, selection: Selection) -> str | None:
    """The key by which a candidate is blocked, ``disable`` or ``only``; ``None`` if it is not.

    What code hands over is not subject to ``only``.
    """
    if candidate.names & {normal_name(name) for name in selection.disable}:
        return "disable"
    if selection.only is None or candidate.given == "code":
        return None
    if not selection.only:
        return None if candidate.bundled and candidate.name == REDACTION else "only"
    return None if candidate.names & {normal_name(name) for name in selection.only} else "only"


def name_conflicts(candidates: Iterable[Candidate]) -> Mapping[Candidate, str]:
    """The third-party candidates that share their name with another, and why they are not loaded.

    This project's own plugin keeps its name; of two third parties neither silently wins.
    """
    installed = [candidate for candidate in candidates if not candidate.given]
    counts = Counter(candidate.name for candidate in installed)
    conflicts: dict[Candidate, str] = {}
    for candidate in installed:
        if candidate.bundled or counts[candidate.name] == 1:
            continue
        others = [other for other in installed if other.name == candidate.name and other is not candidate]
        if any(other.bundled for other in others):
            conflicts[candidate] = f"its name belongs to {BUNDLED_DISTRIBUTION}'s own plugin"
        else:
            rivals = ", ".join(sorted({str(other) for other in others}))
            conflicts[candidate] = f"its name is also declared by {rivals}, and neither is loaded"
    return conflicts


def _folder_name(distribution: Distribution) -> str:
    """The name in ``NAME-VERSION.dist-info``, read without any metadata; empty for other folders."""
    folder = str(getattr(distribution, "_path", "")).replace("\\", "/").rstrip("/").rpartition("/")[2]
    return folder.partition("-")[0] if folder.endswith((".dist-info", ".egg-info")) else ""


def _name_and_version(distribution: Distribution, fallback: str) -> tuple[str, str | None]:
    try:
        metadata = distribution.metadata
        return metadata["Name"] or fallback, metadata["Version"]
    except Exception:
        return fallback, None
