"""``python -m continuity_core.cli`` is ``continuity``."""

import sys

from continuity_core.cli import main

if __name__ == "__main__":
    sys.exit(main())
