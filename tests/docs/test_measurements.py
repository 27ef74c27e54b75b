"""Pages and pictures show what was measured; the short form fails for what is far over a target, twice."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"benchmarks_{name}", BENCHMARKS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


PAGES, MEASURING, ALL = load("pages"), load("measuring"), load("all")
Measured, Target = MEASURING.Measured, MEASURING.Target
MEND = "run python benchmarks/pages.py"


@pytest.mark.parametrize("name", PAGES.PAGES)
def test_the_tables_of_a_page_are_those_of_the_results(name: str) -> None:
    page = (PAGES.CHECKOUT / name).read_text(encoding="utf-8")
    assert PAGES.with_tables(page) == page, f"{name} is out of date: {MEND}"


def test_every_table_has_its_place() -> None:
    text = "".join((PAGES.CHECKOUT / name).read_text(encoding="utf-8") for name in PAGES.PAGES)
    assert sorted(found[2] for found in PAGES.BLOCK.finditer(text)) == sorted(PAGES.TABLES)


@pytest.mark.parametrize("name", PAGES.DRAWN)
def test_a_picture_is_that_of_the_results(name: str) -> None:
    assert (PAGES.PICTURES / name).read_text(encoding="utf-8") == PAGES.DRAWN[name](), f"{name}: {MEND}"


def test_every_script_has_its_results_and_the_other_way_round() -> None:
    results = {path.stem for path in (BENCHMARKS / "results").glob("*.json")}
    assert results == {*ALL.SCRIPTS, "before"}
    assert all((BENCHMARKS / f"{name}.py").is_file() for name in ALL.SCRIPTS)


def test_what_was_measured_before_is_still_measured() -> None:
    assert set(PAGES.result("before")) <= {target["what"] for _, target in PAGES.targets()}


def measuring(figures: list[float], target: float = 2.0, known: float | None = None) -> int:
    """The status of the short form where the measurements give these figures, one after the other."""
    left = list(figures)

    def measure(short: bool) -> object:
        assert short
        return Measured(
            targets=[Target(what="cost", measured=left.pop(0), target=target, known=known)], figures={}
        )

    status: int = MEASURING.report(measure, name="cost", about="A cost.", arguments=["--short"])
    assert not left
    return status


def test_the_short_form_passes_a_figure_that_is_near_its_target() -> None:
    assert measuring([3.9]) == 0


def test_a_figure_far_over_its_target_is_measured_once_more() -> None:
    assert measuring([4.1, 3.0]) == 0
    assert measuring([4.1, 4.2]) == 1


def test_where_the_target_is_known_to_be_missed_the_usual_figure_is_the_measure() -> None:
    assert measuring([7.9], known=4.0) == 0
    assert measuring([8.1, 8.1], known=4.0) == 1


def test_the_long_form_reports_and_never_fails(tmp_path: Path) -> None:
    out = tmp_path / "cost.json"
    missed = Measured(targets=[Target(what="cost", measured=99.0, target=2.0)], figures={"rows": 3})
    assert MEASURING.report(lambda short: missed, name="cost", about="", arguments=["--json", str(out)]) == 0
    written = json.loads(out.read_text(encoding="utf-8"))
    assert written["targets"] == [
        {"what": "cost", "measured": 99.0, "target": 2.0, "unit": "times", "known": None, "met": False}
    ]
    assert written["command"] == "python benchmarks/cost.py"
    assert written["figures"] == {"rows": 3}


def test_what_needs_a_package_that_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(ALL.SCRIPTS, "scale", ("no_such_package",))
    assert ALL.main(["--short", "scale"]) == 0
    assert "scale: left out, no_such_package is not installed" in capfd.readouterr().err
