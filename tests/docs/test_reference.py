"""The reference cannot drift: what the code has stands in it, and pictures are those that are drawn today."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import attrs
import click
import pytest

import continuity_core
from continuity_core import (
    Boundary,
    CauseKind,
    Edit,
    Entry,
    EntryRef,
    Event,
    EventKind,
    Failure,
    Omit,
    Projection,
    Stage,
    StopReason,
    Turn,
    hookimpl,
    hookspecs,
    stop_strategy,
    wait_strategy,
)
from continuity_core.cli.application import application
from continuity_core.engine import chain
from continuity_core.engine.state import Outcome
from continuity_core.engine.strategy_forms import STOP, WAIT, Grammar
from continuity_core.model.decisions import DECISIONS
from continuity_core.testing import VirtualClock

DOCS = Path(__file__).resolve().parents[2] / "docs"


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"docs_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(path.parent))  # As where it is run as a program.
        spec.loader.exec_module(module)
    return module


GENERATE = load(DOCS / "generate.py")
PAGES = [page for page in sorted(DOCS.rglob("*.md")) if "_build" not in page.parts]


def page(name: str) -> str:
    """A page of the reference as it is published."""
    return (DOCS / "reference" / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_the_tables_on_a_page_are_what_the_code_has_today(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text == GENERATE.filled(text), f"{page.name} is out of date: run python docs/generate.py"


def test_every_generated_table_stands_on_one_page() -> None:
    marks = [mark for page in PAGES for mark in GENERATE.marks(page.read_text(encoding="utf-8"))]
    assert sorted(marks) == sorted(GENERATE.GENERATED)


def test_a_table_that_is_out_of_date_is_written_anew() -> None:
    begin, end = GENERATE.BEGIN.format("modes"), GENERATE.END
    now = GENERATE.filled(f"# Modes\n\n{begin}\n\n| `of` |\n\n{end}\n\nMore.\n")
    assert "| `observe` | Say in events what would be done, and do nothing. |" in now
    assert "| `of` |" not in now
    assert now.startswith(f"# Modes\n\n{begin}\n")
    assert now.endswith(f"{end}\n\nMore.\n")


def test_every_hook_is_documented_with_its_parameters() -> None:
    text = page("hooks")
    for name in vars(hookspecs):
        if name.startswith("continuity_"):
            assert f"### `{name}`" in text
    for stage in Stage:
        assert f"`{stage.value}`" in text


def test_every_decision_and_its_join_rule_are_documented() -> None:
    text = page("decisions")
    rules = text[text.index("## Join rules") :]
    for decision in DECISIONS:
        assert f"### `{decision.__name__}`" in text
        assert f"| `{decision.__name__}` |" in rules
    for outcome in Outcome:
        assert f"| `{outcome.value}` |" in text


@pytest.mark.parametrize("kinds", [CauseKind, EventKind])
def test_every_cause_and_event_says_what_it_is(kinds: type[CauseKind | EventKind]) -> None:
    text = page("causes-and-events")
    for kind in kinds:
        row = re.search(rf"^\| `{kind.value}` \| (.+) \|$", text, re.MULTILINE)
        assert row is not None
        assert len(row[1]) > 10, kind


class Faulty:
    """Raises, and edits what is not there."""

    @hookimpl
    def continuity_turn_ended(self, boundary: Boundary) -> None:
        raise KeyError("a mistake")

    @hookimpl
    def continuity_project(self, projection: Projection) -> list[Edit]:
        return [Omit(EntryRef.stable("nowhere"), "a mistake")]


def test_every_kind_of_event_is_documented_with_its_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "SLOW_CALL", 0.0)
    events: list[Event] = []
    continuity = continuity_core.Continuity.from_settings(
        plugins=[Faulty], installed=False, clock=VirtualClock(), on_event=events.append
    )
    with continuity.start_sync_run() as run:
        run.project([Entry(ref=EntryRef.stable("1"), role="user", text="Go")])
        run.turn_ended(Turn(stop_reason=StopReason.ERROR, failure=Failure.from_text("Overloaded")))
        run.before_settle()
        run.input_arrived("steer")
        continuity.disable("tool-tail")
        run.abort()
    assert {event.kind for event in events} == set(EventKind)
    text = page("causes-and-events")
    for event in events:
        for key in event.data:
            assert f"`{key}`" in text, (event.kind, key)


def test_every_option_and_bundled_plugin_is_documented() -> None:
    text = page("plugins")
    core = (DOCS / "configuration.md").read_text(encoding="utf-8")
    continuity = continuity_core.Continuity.from_settings(installed=False)
    for row in continuity.plugins.table:
        assert f"## `{row.name}`" in text
        for option in row.options:
            assert f"| `{option}` |" in text
    for setting in ("mode", "max_resumes", "disable", "only", "load", "require"):
        assert f"| `{setting}` |" in core


@pytest.mark.parametrize("grammar", [WAIT, STOP], ids=lambda grammar: grammar.noun)
def test_every_strategy_is_told_where_waits_are_tuned(grammar: Grammar) -> None:
    text = (DOCS / "howto" / "tune-waits.md").read_text(encoding="utf-8")
    for name in grammar.names:
        assert re.search(rf"`[^`]*\b{name}\b[^`]*`", text), name


def test_the_strategies_on_the_page_can_be_read() -> None:
    text = (DOCS / "howto" / "tune-waits.md").read_text(encoding="utf-8")
    table = text[text.index("| in a file") : text.index("`stop` takes")]
    written = re.findall(r"`([^`]+)`", table)
    assert len(written) > 10
    for strategy in written:
        wait_strategy(strategy.strip('"'))
    for strategy in ("never", "after_attempt(4)", "after_delay(10min)", "before_delay(10min)"):
        assert f"`{strategy}`" in text
        stop_strategy(strategy)


def test_every_command_is_documented() -> None:
    text = page("commands")
    context = click.Context(application)
    for name in application.list_commands(context):
        assert f"## `continuity {name}`" in text
        command = application.get_command(context, name)
        for option in command.params if command is not None else ():
            assert not option.opts[0].startswith("--") or f"`{option.opts[0]}" in text
    assert "## `continuity pi doctor`" in text


def test_every_public_name_is_documented() -> None:
    text = page("python")
    for name in continuity_core.__all__:
        row = re.search(rf"^\| `{name}` \| (.+) \|$", text, re.MULTILINE)
        assert row is not None, name
        assert len(row[1]) > 5, name


def test_everything_that_a_hook_is_given_is_documented_with_what_it_has() -> None:
    text = page("shown")
    for name in ("Boundary", "Turn", "RunView", "Proposal", "Projection", "Event"):
        shown = getattr(continuity_core, name)
        assert f"### `{name}`" in text
        for field in attrs.fields(shown):
            assert f"| `{field.name}` |" in text, (name, field.name)
    for attribute in ("Options", "order", "budgets", "name", "spec_version", "injects", "edits_user_input"):
        assert f"| `{attribute}` |" in text


def test_the_pictures_are_those_that_are_drawn_today() -> None:
    draw = load(DOCS / "pictures" / "draw.py")
    for name, picture in draw.PICTURES.items():
        assert (DOCS / "pictures" / name).read_text(encoding="utf-8") == picture(), (
            f"{name} is out of date: run python docs/pictures/draw.py"
        )


def test_every_page_of_the_site_is_reached_from_the_index() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    for found in DOCS.rglob("*.md"):
        name = found.relative_to(DOCS).with_suffix("").as_posix()
        if name != "index" and "_build" not in name:
            assert name in index or f"{name.partition('/')[0]}/*" in index, name
