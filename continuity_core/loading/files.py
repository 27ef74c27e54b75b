"""Configuration files: which ones there are, and reading one within bounds."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from continuity_core.loading.errors import Problem
from continuity_core.loading.printable import describe_exception, printable
from continuity_core.loading.sources import Layer, Source

FILE_NAME = "continuity.toml"
_MISSING = (
    "Name a file that is there, with --config or CONTINUITY_CONFIG (a relative name starts at the working "
    "folder), or name none: then only your own file and the project's are read."
)
PYPROJECT = "pyproject.toml"
TABLE = "tool.continuity"
FILE_LIMIT = 1024 * 1024
"""Bytes of a configuration file; a longer one is refused."""


class UnreadableFileError(ValueError):
    """A configuration file cannot be used; the text says why."""


@attrs.frozen(kw_only=True)
class FoundFiles:
    """What searching gave."""

    layer: Layer | None = None
    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()


def read_table(path: Path) -> Mapping[str, Any] | None:
    """The table of continuity in a file; ``None`` for a ``pyproject.toml`` without one.

    Other files hold the keys at the top level or under ``[tool.continuity]``, not both.
    Raises :class:`UnreadableFileError`.
    """
    document = _parse(_read_text(path))
    tool = document.get("tool")
    table = tool.get("continuity") if isinstance(tool, dict) else None
    if path.name == PYPROJECT and table is None:
        return None
    if table is None and tool is None:
        return document
    if not isinstance(table, dict):
        raise UnreadableFileError(f"[{TABLE}] is no table")
    if path.name != PYPROJECT and len(document) > 1:
        others = ", ".join(sorted(printable(key, 50) for key in document if key != "tool"))
        raise UnreadableFileError(
            f"it has both [{TABLE}] and keys at the top level ({others}): use one of the two"
        )
    return table


def find_project_file(folder: Path, home: Path | None, known: tuple[Path, ...] = ()) -> FoundFiles:
    """Search ``folder`` and those above it for the project's file, up to ``home`` or the root.

    In one folder ``continuity.toml`` comes before ``pyproject.toml``. A ``continuity.toml`` that cannot be
    read is a problem, and so is a ``pyproject.toml`` that seems to have the table; another one that cannot be
    read is passed over with a warning. A file in ``known`` is somebody else's: the search ends there.
    """
    warnings: list[str] = []
    for path in _candidates(folder, home):
        if any(_same_file(path, other) for other in known):
            break
        try:
            table = read_table(path)
        except UnreadableFileError as error:
            if path.name == PYPROJECT and not _mentions_table(path):
                warnings.append(
                    printable(f"{path}: passed over while searching for configuration: {error}", 1000)
                )
                continue
            return FoundFiles(problems=(_unreadable(path, error),), warnings=tuple(warnings))
        if table is not None:
            layer = Layer(source=Source.PROJECT, table=table, file=str(path))
            return FoundFiles(layer=layer, warnings=tuple(warnings))
    return FoundFiles(warnings=tuple(warnings))


def read_known_file(path: Path, source: Source) -> FoundFiles:
    """Read a file that the user keeps or named; a named one must be there and have the table."""
    try:
        if source is Source.USER and not _exists(path):
            return FoundFiles()
        table = read_table(path)
        if table is None:
            raise UnreadableFileError(f"it has no table [{TABLE}]")
    except UnreadableFileError as error:
        return FoundFiles(problems=(_unreadable(path, error),))
    return FoundFiles(layer=Layer(source=source, table=table, file=str(path)))


def user_file(environment: Mapping[str, str], platform: str = sys.platform) -> Path | None:
    """The user's own file, whether it is there or not; ``None`` where there is no home folder.

    ``$XDG_CONFIG_HOME`` counts everywhere if it is absolute. Else ``%APPDATA%`` on Windows,
    ``~/Library/Application Support`` on macOS, ``~/.config`` elsewhere.
    """
    folder: Path | None = None
    chosen = environment.get("XDG_CONFIG_HOME", "")
    if chosen and Path(chosen).is_absolute():
        folder = Path(chosen)
    elif platform == "win32":
        folder = Path(environment["APPDATA"]) if environment.get("APPDATA") else None
    elif home := home_folder(environment):
        folder = home / ("Library/Application Support" if platform == "darwin" else ".config")
    return folder / "continuity" / FILE_NAME if folder else None


def read_files(
    named: str | Path | None, environment: Mapping[str, str], folder: Path | None
) -> list[FoundFiles]:
    """The project's, the user's and the named file, those that there are; lowest precedence first."""
    own = user_file(environment)
    try:
        folder = (folder or Path.cwd()).absolute()
    except OSError:
        folder = None  # The working directory was removed: there is nothing to search.
    named_path = None
    if named is not None:
        named_path = Path(os.path.expanduser(named))
        named_path = folder / named_path if folder else named_path
    known = tuple(path for path in (own, named_path) if path is not None)
    files = []
    if folder is not None:
        files.append(find_project_file(folder, home_folder(environment), known))
    if own is not None:
        files.append(read_known_file(own, Source.USER))
    if named_path is not None:
        files.append(read_known_file(named_path, Source.NAMED))
    return files


def home_folder(environment: Mapping[str, str]) -> Path | None:
    """The user's home folder, or ``None`` where it cannot be told."""
    named = environment.get("HOME") or environment.get("USERPROFILE")
    if named:
        return Path(named)
    try:
        return Path.home()
    except RuntimeError:
        return None


def _candidates(folder: Path, home: Path | None) -> Iterator[Path]:
    for place in (folder, *folder.parents):
        for name in (FILE_NAME, PYPROJECT):
            if _exists(place / name):
                yield place / name
        if home is not None and _same_file(place, home):
            return


def _exists(path: Path) -> bool:
    """Whether there is something of that name, readable or not."""
    try:
        return os.path.lexists(path)
    except (OSError, ValueError):
        return False


def _same_file(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except (OSError, ValueError):
        return False


def _read_text(path: Path) -> str:
    try:
        if path.exists() and not path.is_file():
            raise UnreadableFileError("it is no file")
        with path.open("rb") as stream:
            content = stream.read(FILE_LIMIT + 1)
    except OSError as error:
        raise UnreadableFileError(error.strerror or type(error).__name__) from error
    if len(content) > FILE_LIMIT:
        raise UnreadableFileError(f"it is longer than {FILE_LIMIT} bytes")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableFileError(f"it is no UTF-8 text (byte {error.start})") from error


def _parse(text: str) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text)
    except (RecursionError, ValueError) as error:
        raise UnreadableFileError(f"it is no valid TOML ({describe_exception(error)})") from error


def _mentions_table(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            return TABLE.encode() in stream.read(FILE_LIMIT)
    except OSError:
        return False


def _unreadable(path: Path, error: UnreadableFileError) -> Problem:
    mend = "Mend it, or take it away." if _exists(path) else _MISSING
    return Problem(where=str(path), what=f"cannot be used: {error}", mend=mend)
