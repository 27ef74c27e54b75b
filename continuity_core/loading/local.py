"""Plugins without packaging: ``continuity_local.py`` beside a configuration file that is trusted.

The file is read once, its classes are found in its text, and it is run only when one of them is loaded: what
``disable`` and ``only`` block never runs. It is loaded by its path, under a module name that no ``import``
can reach, so that it shadows nothing.
"""

from __future__ import annotations

import ast
import importlib.abc
import importlib.util
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from types import ModuleType

import attrs

from continuity_core.loading.discovery import Candidate
from continuity_core.loading.files import FILE_LIMIT, user_file
from continuity_core.loading.printable import describe_exception
from continuity_core.loading.selection import LOCAL_PLUGINS, kebab_case
from continuity_core.loading.sources import Layer, Source

LOCAL_FILE = "continuity_local.py"
_HOOK_PREFIX = "continuity_"


class LocalFileError(ValueError):
    """A ``continuity_local.py`` cannot be used; the text says why."""


@attrs.frozen(eq=False)
class _LocalLoader(importlib.abc.SourceLoader):
    """Runs source that was read already; leaves no compiled file behind."""

    path: str
    source: bytes

    def get_filename(self, fullname: str) -> str:
        return self.path

    def get_data(self, path: str | bytes) -> bytes:
        if os.fspath(path) == self.path:
            return self.source
        raise FileNotFoundError(path)


def local_files(layers: Iterable[Layer], environment: Mapping[str, str]) -> tuple[Path, ...]:
    """The files that are there beside the user's own configuration and beside a named one.

    The user's folder counts whether it has a ``continuity.toml`` or not. A file that was merely found never
    counts.
    """
    own = user_file(environment)
    folders = [own.parent] if own is not None else []
    folders += [Path(layer.file).parent for layer in layers if layer.source is Source.NAMED and layer.file]
    return tuple(dict.fromkeys(path for folder in folders if _is_there(path := folder / LOCAL_FILE)))


def local_candidates(file: Path) -> Iterator[Candidate]:
    """A candidate for each plugin class in the file; one that says what is wrong where there is none."""
    try:
        source = _read(file)
        tree = ast.parse(source, filename=str(file))
        classes = list(_plugin_classes(tree))
        if not classes:
            raise LocalFileError(
                "it has no plugin: a plugin is a class at its top level with a hook in its body, "
                "decorated with @hookimpl"
            )
    except (LocalFileError, SyntaxError, ValueError, RecursionError) as error:
        yield _candidate(LOCAL_PLUGINS, file, partial(_raise, error))
        return
    module = cache(partial(_run, file, source))
    for name, class_name in classes:
        yield _candidate(name, file, partial(_get, module, class_name))


def _candidate(name: str, file: Path, obtain: Callable[[], object]) -> Candidate:
    return Candidate(name=name, obtain=obtain, distribution=str(file), given="local")


def _is_there(path: Path) -> bool:
    try:
        return os.path.lexists(path)
    except (OSError, ValueError):
        return False


def _read(file: Path) -> bytes:
    """The file's bytes; raises :class:`LocalFileError` also where somebody else could have written it."""
    try:
        with file.open("rb") as stream:
            owner = os.fstat(stream.fileno()).st_uid
            source = stream.read(FILE_LIMIT + 1)
    except OSError as error:
        raise LocalFileError(f"it cannot be read: {error.strerror or type(error).__name__}") from error
    if sys.platform != "win32" and owner not in (os.geteuid(), 0, file.parent.stat().st_uid):
        raise LocalFileError("it belongs to another user, and is not run")
    if len(source) > FILE_LIMIT:
        raise LocalFileError(f"it is longer than {FILE_LIMIT} bytes")
    return source


def _plugin_classes(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Name of the plugin and of its class, for each class with a hook in its body."""
    for node in tree.body:
        if not isinstance(node, ast.ClassDef) or node.name.startswith("_"):
            continue
        if any(_is_hook(member) for member in node.body):
            yield _declared_name(node) or kebab_case(node.name), node.name


def _is_hook(member: ast.stmt) -> bool:
    if not isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    if member.name.startswith(_HOOK_PREFIX):
        return True
    return any("hookimpl" in ast.unparse(decorator) for decorator in member.decorator_list)


def _declared_name(node: ast.ClassDef) -> str | None:
    """The text of ``name = "…"`` in the class's body."""
    for member in node.body:
        targets = member.targets if isinstance(member, ast.Assign) else []
        if isinstance(member, ast.AnnAssign):
            targets = [member.target]
        if any(isinstance(target, ast.Name) and target.id == "name" for target in targets):
            value = member.value  # type: ignore[attr-defined]
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                return value.value
    return None


def _run(file: Path, source: bytes) -> ModuleType:
    name = f"{LOCAL_FILE} in {file.parent}"
    loader = _LocalLoader(str(file), source)
    spec = importlib.util.spec_from_file_location(name, file, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up by its name. No statement can import one with a blank in it.
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _get(module: Callable[[], ModuleType], class_name: str) -> object:
    return getattr(module(), class_name)


def _raise(error: Exception) -> object:
    if isinstance(error, LocalFileError):
        raise error
    raise LocalFileError(f"it cannot be read as Python ({describe_exception(error)})") from error
