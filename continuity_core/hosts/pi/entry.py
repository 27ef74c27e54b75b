"""The folder that Pi loads: a few lines that name this interpreter and the extension shipped with it."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile

from continuity_core._version import __version__

EXTENSION = Path(__file__).parent / "extension" / "extension.mjs"
"""The shipped module."""

_ENTRY = """\
// Written by continuity-core {version}: `continuity pi install` writes it anew.
import {{ continuityExtension }} from {module};

// By this name Pi gives extensions its own reading of errors. A Pi that does not is served without it.
const judgement = import("@earendil-works/pi-ai").catch(() => ({{}}));

export default continuityExtension({{ command: {command}, judgement }});
"""


def child_command() -> tuple[str, ...]:
    """The child's command line: the interpreter that runs now, without the working directory on its path."""
    return (sys.executable, "-P", "-m", "continuity_core.hosts.stdio")


def write_entry(folder: Path, command: Sequence[str] | None = None) -> Path:
    """Write the folder, anew where it is there already, and give it back."""
    folder.mkdir(parents=True, exist_ok=True)
    # Not `"type": "module"`: only what Pi itself translates may import Pi's modules by name.
    manifest = {
        "name": "continuity",
        "version": __version__,
        "private": True,
        "pi": {"extensions": ["./index.js"]},
    }
    entry = _ENTRY.format(
        version=__version__,
        module=json.dumps(EXTENSION.as_posix() if os.name != "nt" else EXTENSION.as_uri()),
        command=json.dumps(list(command or child_command())),
    )
    _write(folder / "package.json", json.dumps(manifest, indent=2) + "\n")
    _write(folder / "index.js", entry)
    return folder


def _write(file: Path, text: str) -> None:
    """Write a file whole: a Pi that starts at the same time reads the old one or the new one."""
    if file.exists() and file.read_text(encoding="utf-8", errors="replace") == text:
        return
    with NamedTemporaryFile("w", encoding="utf-8", dir=file.parent, suffix=".tmp", delete=False) as fresh:
        fresh.write(text)
    os.replace(fresh.name, file)


def entry_command(folder: Path) -> list[str] | None:
    """The child's command line that the folder names; ``None`` where it cannot be read."""
    text = (folder / "index.js").read_text(encoding="utf-8", errors="replace")
    _, found, rest = text.partition("command: ")
    try:
        command, _ = json.JSONDecoder().raw_decode(rest) if found else (None, 0)
    except ValueError:
        return None
    return [str(word) for word in command] if isinstance(command, list) and command else None


def is_entry(folder: Path) -> bool:
    """Whether the folder is one that :func:`write_entry` wrote."""
    file = folder / "index.js"
    return file.exists() and "continuityExtension" in file.read_text(encoding="utf-8", errors="replace")


def cached_entry() -> Path:
    """The folder for ``pi -e``: one for each interpreter, in the user's cache."""
    digest = hashlib.blake2b(f"{sys.executable}\0{EXTENSION}".encode(), digest_size=8).hexdigest()
    return write_entry(_cache_folder() / f"pi-{digest}")


def _cache_folder() -> Path:
    if os.name == "nt":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "continuity"
