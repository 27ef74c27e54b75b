"""The Pi coding agent with a tool, against a provider that cuts, breaks off and limits; and it finishes.

Run it with Pi on the path, or named by ``PI_CLI`` (docs/hosts/pi.md), and the extra ``pi``. Pi has an agent
directory and a working directory of its own here.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from continuity_core.hosts.pi.entry import cached_entry
from continuity_core.hosts.pi.programs import find_pi
from continuity_core.testing.fault_server import FaultServer

LIMIT: dict[str, Any] = {
    "http": 429,
    "headers": {"retry-after-ms": "50"},
    "body": {"error": {"message": "Rate limit reached", "type": "rate_limit_error"}},
}
SCRIPT: list[dict[str, Any]] = [
    {"tool_calls": [{"name": "bash", "arguments": '{"command": "echo 05:4'}], "stop": "length"},
    {"tool_calls": [{"name": "bash", "arguments": '{"command": "echo 05:41 | tee tide.txt"}'}]},
    {"text": "High water is", "cut": "rst"},
    LIMIT,
    {"text": "High water is at 05:41 on the 12th."},
]


def main() -> None:
    """Ask once; every turn but two fails in a way of its own."""
    with FaultServer.in_thread(SCRIPT) as server, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = {"id": "any", "maxTokens": 1024, "contextWindow": 200_000}
        provider = {
            "baseUrl": server.base_url,
            "api": "openai-completions",
            "apiKey": "unused",
            "models": [model],
        }
        (folder / "models.json").write_text(json.dumps({"providers": {"local": provider}}))
        # Pi would try twice by itself before we are asked: that is its own matter, and slow.
        (folder / "settings.json").write_text(json.dumps({"retry": {"enabled": False}}))
        options = [
            "-p",
            "-e",
            str(cached_entry()),
            "--continuity-stream-delay-ms",
            "20",
            "--model",
            "local/any",
        ]
        done = subprocess.run(
            [*find_pi().command, *options, "When is high water on the 12th?"],
            cwd=folder,
            env={**os.environ, "PI_CODING_AGENT_DIR": name, "PI_OFFLINE": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
        )
        print(done.stdout.strip())
        print(f"the tool wrote {(folder / 'tide.txt').read_text().strip()}; {len(server.requests)} requests")


if __name__ == "__main__":
    main()
