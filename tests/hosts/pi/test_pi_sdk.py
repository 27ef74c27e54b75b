"""The extension in sessions that a program makes with Pi's SDK, on Pi's own faux provider."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from pi_runs import CAP, QUICK, PiHome

from continuity_core.hosts.pi.programs import find_pi

TEXT = "x" * (4 * CAP)
"""The faux provider counts four characters as a token: this much is at the cap."""
AT_CAP = {"content": TEXT, "stop": "length"}
DONE = {"content": "done", "stop": "stop"}
TERMINATED = {"content": "half", "stop": "error", "error": "terminated"}
FLAGS = dict(zip([QUICK[0].removeprefix("--")], [QUICK[1]], strict=True))


def play(home: PiHome, responses: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """Play the responses in a session, and give what was seen."""
    program = find_pi()
    assert program.folder is not None
    given = {
        "package": str(program.folder),
        "folder": str(home.work),
        "extensions": [str(home.ours)],
        "cap": CAP,
        "flags": FLAGS,
        "prompts": ["Finish the task"],
        "settings": {"retry": {"enabled": False}, "compaction": {"enabled": False}},
        **more,
    }
    done = subprocess.run(
        [program.command[0], str(Path(__file__).with_name("sdk_session.mjs"))],
        input=json.dumps({**given, "responses": responses}),
        cwd=home.work,
        env=home.variables(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    assert seen["errors"] == []
    return seen


def call(name: str = "bash", **arguments: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": "c1", "name": name, "arguments": arguments}


@pytest.mark.parametrize(
    "content",
    [
        TEXT,
        {"type": "thinking", "thinking": TEXT},
        [{"type": "thinking", "thinking": TEXT}, {"type": "text", "text": "partial"}],
        [{"type": "text", "text": TEXT}, call(command="touch executed")],
        [call(command="touch executed " + TEXT)],
    ],
    ids=["text", "reasoning", "mixed", "text and call", "call"],
)
def test_an_answer_at_the_cap_is_asked_for_again(home: PiHome, content: Any) -> None:
    alone = play(home, [{"content": content, "stop": "length"}, DONE], extensions=[])
    seen = play(home, [{"content": content, "stop": "length"}, DONE])
    assert len(alone["requests"]) == (2 if "toolCall" in str(content) else 1)
    assert [len(request) for request in seen["requests"]] == [1, 1]
    assert seen["last"]["content"][0]["text"] == "done"
    assert not (home.work / "executed").exists()


def test_pis_retry_goes_first_and_then_one_resume(home: PiHome) -> None:
    settings = {"retry": {"enabled": True, "maxRetries": 1, "baseDelayMs": 1}}
    native = play(home, [TERMINATED, DONE], settings=settings, flags={"continuity-max-resumes": "0"})
    assert (len(native["requests"]), native["last"]["stopReason"]) == (2, "stop")
    spent = play(home, [TERMINATED, TERMINATED, DONE], settings=settings)
    assert (len(spent["requests"]), spent["last"]["stopReason"]) == (3, "stop")


def test_a_failure_that_stays_is_the_sessions_own(home: PiHome) -> None:
    seen = play(home, [TERMINATED] * 3, flags={**FLAGS, "continuity-stream-retries": "2"})
    assert len(seen["requests"]) == 3
    assert (seen["last"]["stopReason"], seen["last"]["errorMessage"]) == ("error", "terminated")


def test_an_output_cap_that_is_reported_as_an_error_is_a_length(home: PiHome) -> None:
    reported = {"content": "", "stop": "error", "error": "Response truncated: reached max_output_tokens"}
    seen = play(home, [reported, DONE], flags={"continuity-stream-delay-ms": "600000"})
    assert len(seen["requests"]) == 2


@pytest.mark.parametrize("text", ["aborted", "terminated", "429 Too Many Requests"])
def test_an_aborted_answer_stays_aborted_whatever_its_text(home: PiHome, text: str) -> None:
    seen = play(home, [{"content": "half", "stop": "aborted", "error": text}])
    assert (len(seen["requests"]), seen["last"]["stopReason"]) == (1, "aborted")


def test_ordinary_tools_get_no_extra_turn(home: PiHome) -> None:
    seen = play(home, [{"content": [call(command="true")], "stop": "toolUse"}, DONE])
    assert len(seen["requests"]) == 2
    assert not [entry for entry in seen["entries"] if entry["type"] == "context_edit"]


def test_two_prompts_have_their_own_budgets(home: PiHome) -> None:
    other = {"content": TEXT.replace("x", "y"), "stop": "length"}
    script = [AT_CAP, other, AT_CAP, other]
    seen = play(home, script, prompts=["One", "Two"], flags={"continuity-max-resumes": "1"})
    assert len(seen["requests"]) == 4
