"""How the documentation site is built: ``nox -s docs``."""

from __future__ import annotations

from continuity_core import __version__

project = "continuity-core"
author = "The continuity-core developers"
project_copyright = f"2026, {author}"
release = version = __version__

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "*.py", "pictures/*.py"]
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]
# Links to files of the repository that are no pages of the site stay as they are.
suppress_warnings = ["myst.xref_missing"]

html_theme = "furo"
html_title = "continuity-core"
