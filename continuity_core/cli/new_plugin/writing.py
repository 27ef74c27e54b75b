"""Writing the files of a new plugin from the template."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath

from continuity_core._version import __version__
from continuity_core.cli.new_plugin.naming import Names
from continuity_core.hookspecs import SPEC_VERSION

SUFFIX = ".template"
"""What the template's files are called beyond the names that they get: nothing takes them for code.

``PACKAGE`` in a name becomes the package's, ``DOT`` a dot: archives leave hidden files out.
"""


def write(names: Names, folder: Path) -> tuple[Path, ...]:
    """Write every file below ``folder``, which is made, and give their paths.

    Raises ``FileExistsError`` where ``folder`` is there, another ``OSError`` where it cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=False)
    written = []
    for place, text in rendered(names):
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        written.append(path)
    return tuple(written)


def rendered(names: Names) -> Iterator[tuple[PurePosixPath, str]]:
    """Each file's path, relative to the new folder, with its text."""
    words = {
        "PLUGIN": names.plugin,
        "DISTRIBUTION": names.distribution,
        "PACKAGE": names.package,
        "CLASS": names.class_name,
        "CORE_RANGE": core_range(),
        "SPEC_VERSION": repr(SPEC_VERSION),
    }
    template = files("continuity_core.cli.new_plugin").joinpath("template")
    for place, source in sorted(_files_in(template, PurePosixPath())):
        text = source
        for word, value in words.items():
            text = text.replace(f"@{word}@", value)
        parts = [part.replace("PACKAGE", names.package).replace("DOT", ".") for part in place.parts]
        yield PurePosixPath(*parts).with_name(parts[-1].removesuffix(SUFFIX)), text


def core_range(version: str = __version__) -> str:
    """The versions of continuity-core to ask for: from this one to the next that may break a plugin."""
    major, minor = (int(part) for part in version.split(".")[:2])
    # A version before a release is below that release.
    lowest = f"{major}.{minor}" if version.replace(".", "").isdecimal() else version
    return f">={lowest},<0.{minor + 1}" if major == 0 else f">={lowest},<{major + 1}"


def _files_in(folder: Traversable, place: PurePosixPath) -> Iterator[tuple[PurePosixPath, str]]:
    for child in folder.iterdir():
        if child.is_dir():
            yield from _files_in(child, place / child.name)
        elif child.name.endswith(SUFFIX):
            yield place / child.name, child.read_text(encoding="utf-8")
