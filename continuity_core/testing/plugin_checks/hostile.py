"""Boundaries, turns and histories in which much is strange, and what a plugin says of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs

from continuity_core.engine.budgets import NO_PARENT, find_budget
from continuity_core.engine.bundles import BundleCheck
from continuity_core.engine.chain import Chain, Link, edits_reader, read_bundle, read_cause
from continuity_core.engine.project import project
from continuity_core.engine.settings import Settings
from continuity_core.engine.state import RunState
from continuity_core.loading.printable import printable
from continuity_core.model.boundary import Boundary, Point, RunView
from continuity_core.model.cause import CauseKind
from continuity_core.model.decisions import Remember, Resume
from continuity_core.model.entries import Entry, Projection
from continuity_core.model.proposal import Bundle, Proposal
from continuity_core.model.turn import Turn
from continuity_core.testing.plugin_checks.calling import Caller, Looked
from continuity_core.testing.plugin_checks.subject import Subject
from continuity_core.testing.strategies import NOW

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_STATE = RunState(run="run", session_id="session", started_at=NOW)


def hostile_problems(subject: Subject, examples: int, time_limit: float) -> Iterator[str]:
    """A problem of each hook, if it has one, with the shortest of the cases that show one."""
    try:
        from hypothesis import strategies as st

        from continuity_core.testing import strategies
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"check_plugin needs {error.name}: pip install 'continuity-core[testing]', or leave the strange "
            "boundaries out by examples=0",
            name=error.name,
        ) from error
    judge = _Judge(subject, time_limit)
    cases: tuple[tuple[str, Callable[[Caller, Any], Looked], SearchStrategy[Any]], ...] = (
        ("classify", judge.classify, st.tuples(strategies.turns(), strategies.run_views())),
        ("turn_ended", judge.turn_ended, st.tuples(strategies.boundaries(), strategies.proposals())),
        ("before_settle", judge.before_settle, st.tuples(strategies.boundaries(), strategies.proposals())),
        ("project", judge.project, st.tuples(strategies.histories(), strategies.proposals())),
    )
    for hook, look, strategy in cases:
        link = _link(subject.chain, hook)
        if link is None:
            continue
        twin = None if subject.twin is None else _link(subject.twin, hook)
        caller = Caller(link=link, twin=twin, read=_READERS[hook], time_limit=time_limit)
        yield from _shortest_problem(partial(look, caller), strategy, examples)
        if judge.slow is not None:
            yield (
                f"{link.hook} takes {judge.slow * 1000:.0f} ms, more than {time_limit * 1000:.0f} ms: every "
                "run waits for it, and the log names it. Do slow work where the plugin is made, or not at all"
            )
            judge.slow = None


_READERS: dict[str, Callable[[Link, object], Any]] = {
    "classify": read_cause,
    "turn_ended": read_bundle,
    "before_settle": read_bundle,
    "project": edits_reader(0),
}


def _link(chain: Chain, hook: str) -> Link | None:
    links: tuple[Link, ...] = getattr(chain, hook)
    return links[0] if links else None


def _shortest_problem(
    look: Callable[[Any], Looked], strategy: SearchStrategy[Any], examples: int
) -> Iterator[str]:
    """Nothing is raised while hypothesis draws: a plugin that answers by chance would make it give up."""
    from hypothesis import HealthCheck, Phase, given, settings

    found: list[tuple[str, str]] = []

    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        derandomize=True,
        phases=(Phase.generate,),
        suppress_health_check=[
            HealthCheck.data_too_large,
            HealthCheck.filter_too_much,
            HealthCheck.large_base_example,
            HealthCheck.nested_given,
            HealthCheck.too_slow,
        ],
    )
    @given(strategy)
    def every_case(drawn: Any) -> None:
        looked = look(drawn)
        if looked.problem is not None:
            found.append((repr(drawn[0]), looked.problem))

    every_case()
    if found:
        shown, problem = min(found, key=lambda case: len(case[0]))
        yield f"{problem} (shown {printable(shown, 600)})"


@attrs.define(eq=False)
class _Judge:
    """Shows a hook one case, and judges what it says."""

    subject: Subject
    time_limit: float
    slow: float | None = None
    """Seconds of a call that is slow; the hook is not called again, since that would take for ever."""

    def classify(self, caller: Caller, drawn: tuple[Turn, RunView]) -> Looked:
        """A turn to be classified."""
        turn, run = drawn
        return self._looked(caller, turn, attrs.evolve(run, memory=None))

    def turn_ended(self, caller: Caller, drawn: tuple[Boundary, Proposal]) -> Looked:
        """A turn that ended."""
        return self._decide(caller, drawn, Point.TURN_ENDED)

    def before_settle(self, caller: Caller, drawn: tuple[Boundary, Proposal]) -> Looked:
        """A run that is about to settle."""
        return self._decide(caller, drawn, Point.BEFORE_SETTLE)

    def project(self, caller: Caller, drawn: tuple[tuple[Entry, ...], Proposal]) -> Looked:
        """The next request."""
        entries, proposal = drawn
        looked = self._looked(caller, Projection(entries), proposal)
        if looked.problem is None and looked.value is not None:
            for dropped in project(entries, self.subject.chain, _STATE, proposal).dropped:
                return Looked(problem=f"{caller.link.hook}: {dropped.what} is refused: {dropped.why}")
        return looked

    def _decide(self, caller: Caller, drawn: tuple[Boundary, Proposal], point: Point) -> Looked:
        shown, proposal = drawn
        if shown.turn.unfinished or shown.host.aborted or shown.cause.kind is CauseKind.CANCELLED:
            return Looked()  # The chain is not asked then.
        # Only what the plugin itself remembered ever comes back to it.
        boundary = attrs.evolve(shown, point=point, run=attrs.evolve(shown.run, memory=None))
        looked = self._looked(caller, boundary, proposal)
        if looked.problem is not None or looked.value is None:
            return looked
        bundle: Bundle = looked.value
        refusal = self._refusal(boundary, bundle)
        if refusal is not None:
            what = ", ".join(dict.fromkeys(type(decision).__name__ for decision in bundle.decisions))
            return Looked(problem=f"{caller.link.hook}: {what} is refused: {refusal}")
        for decision in bundle.decisions:
            if isinstance(decision, Remember):
                run = attrs.evolve(boundary.run, memory=decision.value)
                return self._looked(caller, attrs.evolve(boundary, run=run), proposal)
        return looked

    def _looked(self, caller: Caller, *arguments: object) -> Looked:
        if self.slow is not None:
            return Looked()
        looked = caller.look(*arguments)
        self.slow = looked.slow
        return looked

    def _refusal(self, boundary: Boundary, bundle: Bundle) -> str | None:
        """Why the bundle would be refused in its form, whatever is spent and wherever it is allowed."""
        plugin = self.subject.registered
        resumes = [decision for decision in bundle.decisions if isinstance(decision, Resume)]
        for resume in resumes:
            if resume.budget is not None and find_budget(plugin, resume.budget) is None:
                declared = ", ".join(budget.name for budget in plugin.budgets) or "none"
                return f"it names the budget {resume.budget!r}, and declares {declared}"
        form = (
            [decision for decision in bundle.decisions if decision not in resumes]
            if len(resumes) == 1
            else None
        )
        check = BundleCheck(
            boundary=boundary,
            state=_STATE,
            settings=Settings(allow_injection=(plugin.name,)),
            above=NO_PARENT,
        )
        refusal = check.refusal(
            bundle if form is None else attrs.evolve(bundle, decisions=tuple(form)), plugin
        )
        return None if refusal is None else refusal.why
