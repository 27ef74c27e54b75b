"""The conformance kit for authors of plugins: what it finds, and that it teaches."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import pytest

from continuity_core import (
    Boundary,
    Cause,
    CauseKind,
    Decision,
    Edit,
    EntryRef,
    Halt,
    Omit,
    Order,
    Projection,
    Remember,
    Replace,
    Resume,
    RunView,
    Stage,
    Turn,
    Wait,
    count,
    hookimpl,
    option,
)
from continuity_core.testing import PluginCheckError, check_plugin

BUNDLED = [
    "length-resume",
    "partial-checkpoint",
    "projection-redaction",
    "provider-errors",
    "run-limits",
    "stream-recovery",
    "tool-tail",
    "usage-limit-wait",
]


@pytest.mark.parametrize("name", BUNDLED)
def test_the_bundled_plugins_keep_the_contract(name: str) -> None:
    # Shared cores are slow at random: the limit here is ten times the usual one.
    settings = {"allow_injection": ["partial-checkpoint"]}
    check_plugin(name, settings=settings, examples=20, time_limit=0.5)


# ------------------------------------------------------------------------- plugins with one mistake each


class Hooked:
    """What a subclass does at every end of a turn."""

    @hookimpl
    def continuity_turn_ended(self, boundary: Boundary) -> Any:
        return self.decide(boundary)

    def decide(self, boundary: Boundary) -> Any:
        raise NotImplementedError


class Impatient(Hooked):
    def decide(self, boundary: Boundary) -> Any:
        time.sleep(0.003)
        return None


class Counting(Hooked):
    def __init__(self) -> None:
        self.turns = 0

    def decide(self, boundary: Boundary) -> Any:
        self.turns += 1
        return None


class Moody(Hooked):
    numbers = itertools.count()

    def decide(self, boundary: Boundary) -> Any:
        return Halt("enough") if next(self.numbers) % 2 else None


class Aware(Hooked):
    """Two instances differ."""

    made = itertools.count()

    def __init__(self) -> None:
        self.number = next(self.made)

    def decide(self, boundary: Boundary) -> Any:
        return Halt(f"said by instance {self.number}")


class Meddling(Hooked):
    def decide(self, boundary: Boundary) -> Any:
        object.__setattr__(boundary, "recent", ())
        return None


class Growing(Hooked):
    """Changes what it remembered in place."""

    def decide(self, boundary: Boundary) -> Any:
        memory = boundary.run.memory or [0]
        if boundary.run.memory is not None:
            memory.append(1)
        return Remember(memory)


class Leaving(Hooked):
    def decide(self, boundary: Boundary) -> Any:
        sys.exit(3)


class Brittle(Hooked):
    """Not every host keeps an entry for a turn that failed."""

    def decide(self, boundary: Boundary) -> Any:
        return Halt("the first one") if boundary.turn.entry.key == "first" else None  # type: ignore[union-attr]


class Wordy(Hooked):
    def decide(self, boundary: Boundary) -> Any:
        return "resume"


class Overdrawn(Hooked):
    def decide(self, boundary: Boundary) -> Any:
        return Resume("once more", "tries")


class Twice(Hooked):
    def decide(self, boundary: Boundary) -> Any:
        return [Resume("one"), Resume("two")]


class Forgetting(Hooked):
    def decide(self, boundary: Boundary) -> Any:
        return Remember({"when": boundary.now})


class Inventing(Hooked):
    def decide(self, boundary: Boundary) -> Any:
        return Omit(EntryRef.stable("the first"), "why not")


class LateWait:
    @hookimpl
    def continuity_before_settle(self, boundary: Boundary) -> list[Decision]:
        return [Wait(seconds=1, why="to be sure")]


class Insatiable:
    @hookimpl
    def continuity_before_settle(self, boundary: Boundary) -> Decision:
        return Resume("more")


class Cutting:
    """Omits a call and leaves its result, or the reverse."""

    @hookimpl
    def continuity_project(self, projection: Projection) -> list[Edit]:
        return [Omit(entry.ref, "short") for entry in projection.entries if entry.role == "tool"][:1]


class Stretching:
    @hookimpl
    def continuity_project(self, projection: Projection) -> Iterator[Edit]:
        for entry in projection.entries:
            if entry.role == "assistant" and not entry.calls:
                yield Replace(entry.ref, entry.text + " and more", "to be nice")


class Guessing:
    numbers = itertools.count()

    @hookimpl
    def continuity_classify(self, turn: Turn, run: RunView) -> Cause:
        return Cause(kind=CauseKind.FINAL, why=f"guess {next(self.numbers)}")


MISTAKES: list[tuple[type, str]] = [
    (Impatient, r"continuity_turn_ended takes \d+ ms, more than 2 ms: every run waits for it"),
    (Counting, r"changes the plugin itself \(turns\).*Return Remember\(value\)"),
    (Moody, "and asked a second time at the same boundary .*: decide by what is shown alone"),
    (Aware, "and asked by a second instance at the same boundary .*said by instance"),
    (Meddling, r"changes what it is shown \(its argument 1\): copy a value before you change it"),
    (Growing, r"changes what it is shown \(its argument 1\): copy a value"),
    (Leaving, r"ends the process \(SystemExit: 3\): return Halt\(reason, end_run=True\)"),
    (Brittle, "AttributeError.*what it is shown may lack anything; return None for no opinion"),
    (Wordy, "continuity_turn_ended returned str: it must return decisions, or None"),
    (Overdrawn, "it names the budget 'tries', which it did not declare"),
    (Twice, "it asks for more than one Resume"),
    (Forgetting, "what it remembers is no JSON"),
    (Inventing, "an entry that the host does not know"),
    (LateWait, "a Wait belongs to continuity_turn_ended"),
    (Insatiable, r"it asks for another turn after every whole answer \(8 times in one run\)"),
    (Cutting, "half of a pair"),
    (Stretching, "may only narrow"),
    (Guessing, r"guess \d+.*asked a second time"),
]


@pytest.mark.parametrize(("plugin", "message"), MISTAKES, ids=lambda each: getattr(each, "__name__", ""))
def test_a_mistake_is_named_with_its_mend(plugin: type, message: str) -> None:
    with pytest.raises(PluginCheckError, match=message):
        check_plugin(plugin, time_limit=0.002 if plugin is Impatient else 5.0)


def test_a_problem_shows_a_case_that_has_it() -> None:
    with pytest.raises(PluginCheckError) as caught:
        check_plugin(Brittle, time_limit=5.0)
    [problem] = [each for each in caught.value.problems if "AttributeError" in each]
    assert "(shown Boundary(point=" in problem
    assert "entry=None" in problem


def test_the_same_cases_are_shown_in_every_run() -> None:
    def shown(examples: int) -> list[str]:
        turns: list[str] = []

        class Watching(Hooked):
            def decide(self, boundary: Boundary) -> Any:
                turns.append(repr(boundary.turn))

        check_plugin(Watching(), time_limit=5.0, examples=examples)
        return turns

    played = len(shown(0))
    strange = shown(10)[played:]
    assert len(strange) > 5
    assert shown(10)[played:] == strange


def test_strange_cases_are_left_out_where_the_author_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    check_plugin(Brittle, examples=0)
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    check_plugin(Brittle, examples=0)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'continuity-core\[testing\]'.*examples=0"):
        check_plugin(Brittle)


# ----------------------------------------------------------------------------------------------- options


def plugin_with(read: Callable[[object], Any], default: object = 3, help: str = "How much.") -> type:
    @attrs.frozen(kw_only=True)
    class Options:
        amount: Any = option(default, read=read, help=help)

    @attrs.frozen(eq=False)
    class WithOptions:
        options: Any = attrs.field(factory=Options)

        @hookimpl
        def continuity_turn_ended(self, boundary: Boundary) -> None: ...

    WithOptions.Options = Options  # type: ignore[attr-defined]
    return WithOptions


@pytest.mark.parametrize(
    ("plugin", "message"),
    [
        (plugin_with(count, help=" "), "the option amount has no help"),
        (
            plugin_with(lambda value: int(str(value)) + 1),
            "makes 5 of its own result 4: reading what was read must change nothing",
        ),
        (
            plugin_with(lambda value: (int(value), "days") if isinstance(value, int | str) else {}[value]),
            "does not take its own result .*KeyError",
        ),
        (
            plugin_with(lambda value: {3: 3}[value]),
            r"raises KeyError: .*raise ValueError with what is allowed",
        ),
        (plugin_with(float), "takes NaN, which no comparison bounds"),
    ],
)
def test_a_reader_that_troubles_users_is_named(plugin: type, message: str) -> None:
    with pytest.raises(PluginCheckError, match=message):
        check_plugin(plugin, examples=0)


def test_a_good_reader_is_fine() -> None:
    check_plugin(plugin_with(count), examples=0)


def test_options_that_can_change_are_refused() -> None:
    @attrs.define(kw_only=True)
    class Loose:
        amount: int = option(3, read=count, help="How much.")

    class WithLoose:
        Options = Loose

        def __init__(self, options: Loose) -> None:
            self.options = options

        @hookimpl
        def continuity_turn_ended(self, boundary: Boundary) -> None: ...

    with pytest.raises(PluginCheckError, match="options of Loose can be changed after they were read"):
        check_plugin(WithLoose, examples=0)


def test_a_plugin_that_defines_equality_is_refused() -> None:
    @attrs.frozen
    class Equal:
        @hookimpl
        def continuity_turn_ended(self, boundary: Boundary) -> None: ...

    with pytest.raises(PluginCheckError, match=r"the class Equal defines equality.*pass eq=False"):
        check_plugin(Equal, examples=0)


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("nobody", {}, 'there is no plugin "nobody": hand over its class, or install its distribution'),
        ("tool-tail", {"disable": ["tool-tail"]}, "tool-tail is off by .*: there is nothing to check"),
        (
            "partial-checkpoint",
            {},
            r'check_plugin\(..., settings=\{"allow_injection": \["partial-checkpoint"\]\}\)',
        ),
    ],
)
def test_what_is_not_on_is_no_pass(name: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(PluginCheckError, match=message):
        check_plugin(name, settings=settings)


def test_a_misspelt_neighbour_in_the_order_is_named() -> None:
    class Late:
        order = Order(stage=Stage.TAIL, runs_after=("strem-recovery", "somebody-else"))

        @hookimpl
        def continuity_turn_ended(self, boundary: Boundary) -> None: ...

    with pytest.raises(PluginCheckError) as caught:
        check_plugin(Late, examples=0)
    assert caught.value.problems == (
        'its order names "strem-recovery", and no plugin is called so. Did you mean "stream-recovery"?',
    )
