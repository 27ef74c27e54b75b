"""``continuity serve --stdio`` without the packages of the command line."""

from continuity_core.hosts.stdio.serving import serve_stdio

if __name__ == "__main__":
    serve_stdio()
