"""A child that is missing, dies, hangs or answers rubbish: Pi behaves as without us, and says so once."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pi_runs import ALONE, DONE, PiHome, Printed, broken, children_of, cut

DIES_AT_THE_FIRST_TURN = """
import os
from continuity_core.hosts.stdio.methods import Methods
from continuity_core.hosts.stdio.serving import serve_stdio
Methods._turn_ended = lambda *arguments: os._exit(9)
serve_stdio()
"""

REFUSES_BOUNDARIES = """
from continuity_core.hosts.stdio.methods import Methods
from continuity_core.hosts.stdio.rpc import Code, RpcError
from continuity_core.hosts.stdio.serving import serve_stdio
async def refuse(*arguments):
    raise RpcError(Code.MISUSE, "not now")
Methods._turn_ended = Methods._before_settle = refuse
serve_stdio()
"""

OTHER_PROTOCOL = """
import json
for line in iter(input, None):
    error = {"code": -32001, "message": "this server speaks protocol 7"}
    print(json.dumps({"jsonrpc": "2.0", "id": json.loads(line).get("id"), "error": error}), flush=True)
"""

SERVES = "from continuity_core.hosts.stdio.serving import serve_stdio; serve_stdio()"

SCRIPT = [cut()]

CHILDREN = {
    "missing": ["/no/such/interpreter"],
    "no executable": [str(Path(__file__))],
    "ends at once": [sys.executable, "-c", "raise SystemExit(3)"],
    "dies with a message": [sys.executable, "-c", "raise RuntimeError('broken installation')"],
    "answers rubbish": [sys.executable, "-c", "print('hello', flush=True); input()"],
    "answers other JSON": [sys.executable, "-c", "print('[1]', flush=True); input()"],
    "other protocol": [sys.executable, "-c", OTHER_PROTOCOL],
    "hangs": [sys.executable, "-c", "import time; time.sleep(600)"],
    "dies at the first turn": [sys.executable, "-P", "-c", DIES_AT_THE_FIRST_TURN],
}


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Printed:
    """Pi without us."""
    return PiHome(tmp_path_factory.mktemp("alone") / "pi").print(SCRIPT, extensions=[ALONE])


@pytest.mark.parametrize("child", CHILDREN)
def test_pi_behaves_as_without_us_and_says_so_once(home: PiHome, alone: Printed, child: str) -> None:
    home.command, home.limits = CHILDREN[child], {"startMs": 300, "silenceMs": 300}
    if child == "dies at the first turn":
        home.limits = None
    printed = home.print(SCRIPT)
    assert (printed.status, printed.output) == (alone.status, alone.output)
    assert [r.strings for r in printed.requests] == [r.strings for r in alone.requests]
    [said] = printed.ours
    assert "Pi works as without it" in said
    if child == "dies with a message":
        assert "broken installation" in said


def test_what_the_child_refuses_is_told_and_pi_goes_on(home: PiHome, alone: Printed) -> None:
    home.command = [sys.executable, "-P", "-c", REFUSES_BOUNDARIES]
    printed = home.print(SCRIPT)
    assert (printed.status, printed.output) == (alone.status, alone.output)
    assert [r.strings for r in printed.requests] == [r.strings for r in alone.requests]
    refused = "continuity: the child process refused"
    assert printed.ours == [f"{refused} run/turn_ended: not now", f"{refused} run/before_settle: not now"]


def test_a_child_that_dies_in_a_wait_lets_pi_settle_and_the_next_session_has_another(home: PiHome) -> None:
    with home.rpc([broken(), cut(), DONE], "--continuity-stream-delay-ms", "600000") as pi:
        pi.prompt()
        pi.until("extension_ui_request", method="setStatus")
        [child] = children_of(pi.process.pid)
        os.kill(child, signal.SIGKILL)
        assert not pi.settled()["aborted"]
        assert len([said for said in pi.said if "Pi works as without it" in said]) == 1
        assert "not running" in pi.ask("/continuity status")
        pi.send("new_session")
        pi.until("response", command="new_session")
        pi.prompt("Again")
        pi.settled()
        assert len(pi.server.requests) == 3


def test_a_child_that_hangs_in_a_plugin_is_given_up(home: PiHome) -> None:
    (home.work / "stuck.py").write_text(
        "import time\nfrom continuity_core import hookimpl\n\n\nclass Stuck:\n    @hookimpl\n"
        "    def continuity_turn_ended(self, boundary, proposal):\n        time.sleep(600)\n"
    )
    (home.work / "mine.toml").write_text('load = ["stuck:Stuck"]\n')
    home.environment["PYTHONPATH"] = str(home.work)
    home.limits = {"silenceMs": 300}
    printed = home.print([cut()], "--continuity-config", "mine.toml")
    assert printed.status == 1
    [said] = printed.ours
    assert "has not answered run/turn_ended" in said


@pytest.mark.parametrize("stuck", [False, True], ids=["waiting", "stuck in a plugin"])
def test_no_orphan_survives_the_death_of_pi(home: PiHome, stuck: bool) -> None:
    flags = ["--continuity-stream-delay-ms", "600000"]
    if stuck:
        (home.work / "stuck.py").write_text(
            "import time\nfrom continuity_core import hookimpl\n\n\nclass Stuck:\n    @hookimpl\n"
            "    def continuity_turn_ended(self, boundary, proposal):\n"
            "        open('stuck', 'w').close()\n        time.sleep(600)\n"
        )
        (home.work / "mine.toml").write_text('load = ["stuck:Stuck"]\n')
        home.environment["PYTHONPATH"] = str(home.work)
        flags += ["--continuity-config", "mine.toml"]
    with home.rpc([broken(), DONE], *flags) as pi:
        pi.prompt()
        if stuck:
            eventually((home.work / "stuck").exists)
        else:
            pi.until("extension_ui_request", method="setStatus")
        [child] = children_of(pi.process.pid)
        pi.process.kill()
        eventually(lambda: not is_alive(child))


def test_a_child_ends_with_its_session(home: PiHome) -> None:
    with home.rpc([DONE]) as pi:
        pi.prompt()
        pi.settled()
        [child] = children_of(pi.process.pid)
        pi.send("new_session")
        pi.until("response", command="new_session")
        eventually(lambda: not is_alive(child))


def is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def eventually(condition: Callable[[], bool], seconds: float = 15.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.02)


def test_a_session_has_one_child_also_where_pi_tells_twice_that_it_starts(
    home: PiHome, tmp_path: Path
) -> None:
    started = tmp_path / "started"
    counted = f"from pathlib import Path; Path({str(started)!r}).open('a').write('started '); {SERVES}"
    home.command = [sys.executable, "-P", "-c", counted]
    with home.rpc([DONE, DONE]) as pi:
        for session in range(2):
            pi.prompt()
            pi.settled()
            assert started.read_text().split() == ["started"] * (session + 1)
            pi.send("new_session")
            pi.until("response", command="new_session")
