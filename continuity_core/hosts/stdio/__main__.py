"""``python -P -m continuity_core.hosts.stdio`` is ``continuity serve --stdio`` without the command line's packages."""

from continuity_core.hosts.stdio.serving import serve_stdio

if __name__ == "__main__":
    serve_stdio()
