"""``continuity conformance`` as its user meets it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from continuity_core.cli import main
from continuity_core.testing.conformance.registry import DRIVERS, Driver

SCENARIOS = Path(__file__).resolve().parents[1] / "data" / "scenarios.json"


def conformance(*arguments: object) -> int:
    return main(["conformance", *map(str, arguments)])


def written(tmp_path: Path, *scenarios: Any) -> Path:
    file = tmp_path / "f.json"
    file.write_text(json.dumps(list(scenarios)), encoding="utf-8")
    return file


def one(**keys: Any) -> dict[str, Any]:
    return {"name": "one", "prompts": ["Go"], "responses": [{"text": "done"}], **keys}


def test_a_line_is_printed_for_each_scenario_and_mode(capsys: pytest.CaptureFixture[str]) -> None:
    assert conformance("--host", "reference", SCENARIOS, "--only", "*without-finish") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "pass  clean-eof-without-finish [chat stream]"
    assert lines[1].startswith("unsupported  clean-eof-without-finish [chat]: response 1 ends without")
    assert len(lines) == 4


def test_a_difference_fails_the_command_and_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, one(expect={"requests": 2, "final": {"text": "more"}}))
    assert conformance("--host", "reference", file, "--dialect", "chat") == 1
    captured = capsys.readouterr()
    assert captured.out.splitlines() == [
        'FAIL  one [chat stream]: requests: expected 2, was 1; final.text: expected "more", was "done"',
        'FAIL  one [chat]: requests: expected 2, was 1; final.text: expected "more", was "done"',
    ]
    assert captured.err == "0 passed, 2 failed, 0 unsupported\n"


def test_a_hang_is_a_failure_and_not_a_hang(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, one(responses=[{"hang": True}], host={"stream": True}))
    arguments = ("--host", "reference", file, "--dialect", "chat", "--time-limit", "0.3")
    assert conformance(*arguments) == 1
    assert "no end after 0.3 s" in capsys.readouterr().out


BLOCKING_DRIVER = """
import time
from continuity_core.testing.conformance.hosts.reference import ReferenceHost, ReferenceSession

async def prompt(self, text):
    time.sleep(60)

ReferenceSession.prompt = prompt
Host = ReferenceHost
"""


def test_a_host_that_blocks_the_event_loop_is_a_failure_too(tmp_path: Path) -> None:
    (tmp_path / "blocking_driver.py").write_text(BLOCKING_DRIVER, encoding="utf-8")
    out = tmp_path / "out.json"
    done = subprocess.run(
        [
            *(sys.executable, "-m", "continuity_core.cli", "conformance", str(written(tmp_path, one()))),
            *("--host", "blocking_driver:Host", "--time-limit", "0.1", "--json", str(out)),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert done.stdout == (
        "FAIL  one [chat stream]: no end after 0.1 s, and the host cannot be cancelled; "
        "nothing more was played\n"
    )
    assert json.loads(out.read_text(encoding="utf-8"))["summary"] == {"pass": 0, "fail": 1, "unsupported": 0}


def test_a_package_that_the_host_needs_is_named_with_the_extra_that_brings_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    assert conformance("--host", "reference", written(tmp_path, one())) == 2
    assert (
        "host reference needs the package openai: pip install 'continuity-core[demo]'"
        in capsys.readouterr().err
    )


def test_the_results_go_to_a_file_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.json"
    assert conformance("--host", "reference", written(tmp_path, one()), "--json", out) == 0
    value = json.loads(out.read_text(encoding="utf-8"))
    assert value["summary"] == {"pass": 4, "fail": 0, "unsupported": 0}
    assert capsys.readouterr().out.count("pass  one") == 4


def test_the_results_go_to_standard_output_alone_where_that_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert conformance("--host", "reference", written(tmp_path, one()), "--json", "-") == 0
    assert json.loads(capsys.readouterr().out)["host"] == "reference"


def test_observing_is_a_mode_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, one(responses=[{"text": "half", "stop": "length"}, {"text": "done"}]))
    assert conformance("--host", "reference", file, "--observe", "--dialect", "anthropic") == 0
    assert capsys.readouterr().out.splitlines() == [
        "pass  one [anthropic stream]",
        "pass  one [anthropic]",
    ]


def test_a_driver_of_one_s_own_is_named_by_its_class(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    host = "continuity_core.testing.conformance.hosts.reference:ReferenceHost"
    assert conformance("--host", host, written(tmp_path, one()), "--dialect", "chat") == 0
    assert "pass  one [chat]" in capsys.readouterr().out


def test_a_host_may_be_named_as_its_package_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(cast(dict[str, Driver], DRIVERS), "two-words", DRIVERS["reference"])
    for name in ("two-words", "two_words"):
        assert conformance("--host", name, written(tmp_path, one()), "--dialect", "chat") == 0
        assert "pass  one [chat]" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--host", "referense"), "there is no host named 'referense'. Did you mean \"reference\"?"),
        (("--host", "no_such_module:Host"), "needs the package no_such_module"),
        (("--host", "continuity_core:NoHost"), "has no attribute 'NoHost'"),
        (("--host", "reference", "--dialect", "morse"), "has no dialect 'morse': it has chat, anthropic"),
        (("--host", "reference", "--only", "two*"), "no scenario of"),
        (("--host", "reference", "--time-limit", "0"), "--time-limit"),
        ((), "--host"),
    ],
)
def test_what_cannot_be_used_is_status_2_with_the_mend(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    message: str,
) -> None:
    assert conformance(*arguments, written(tmp_path, one())) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err


def test_every_mistake_of_a_file_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, one(nmae="x"), {"name": "two", "prompts": [""], "responses": []})
    assert conformance("--host", "reference", file) == 2
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 2
    assert 'one.nmae: is no key of the format. Did you mean "name"?' in errors[0]


def test_settings_that_are_not_accepted_are_a_mistake_of_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, one(settings={"max_resumes": -1}))
    assert conformance("--host", "reference", file) == 2
    assert "one.settings" in capsys.readouterr().err


def test_a_file_that_does_not_exist_is_a_mistake(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert conformance("--host", "reference", tmp_path / "none.json") == 2
    assert "none.json: cannot be read: No such file or directory" in capsys.readouterr().err


def test_results_that_cannot_be_written_are_a_mistake(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "nowhere" / "out.json"
    assert conformance("--host", "reference", written(tmp_path, one()), "--json", out) == 2
    assert "cannot be written: No such file or directory" in capsys.readouterr().err
