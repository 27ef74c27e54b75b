"""The folder that Pi loads: a few lines that name this interpreter and the extension shipped with it."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

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
    (folder / "package.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    (folder / "index.js").write_text(entry, encoding="utf-8")
    return folder


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
