"""What a plugin declares beside its hooks: its place, its budgets, the contract it was written for."""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs

from continuity_core.hookspecs import SPEC_VERSION
from continuity_core.loading.errors import Refusal
from continuity_core.loading.printable import describe_exception, printable
from continuity_core.model.budgets import Budget, Window
from continuity_core.model.order import Order

PLUGIN_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
_BUDGET_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")

OLDEST_SPEC_VERSION = (0, 1)
"""The oldest hook specification whose plugins are still taken; what is in force is ``SPEC_VERSION``."""

WINDOW_PLUGIN = "usage-limit-wait"
"""The only plugin whose budget is a window: a wait for a stated reset costs no resume."""

_ABSENT = object()


@attrs.frozen(kw_only=True)
class Declarations:
    """A plugin's declarations, each of the right kind."""

    order: Order
    budgets: tuple[Budget | Window, ...]
    edits_user_input: bool


def name_refusals(name: object) -> Iterator[Refusal]:
    """Whether ``name`` can be a plugin's name."""
    if not isinstance(name, str) or not PLUGIN_NAME.fullmatch(name):
        yield Refusal(
            f"{printable(repr(name), 100)} is no plugin name",
            "Use small letters, digits and hyphens, with no hyphen at the start, e.g. my-plugin.",
        )


def read_declarations(plugin: object, name: str, refusals: list[Refusal]) -> Declarations:
    """Read the declarations; what is wrong with them is added to ``refusals``."""

    def look(attribute: str) -> object:
        try:
            return getattr(plugin, attribute, _ABSENT)
        except (Exception, SystemExit) as error:
            refusals.append(
                Refusal(
                    f"looking for its attribute {attribute} raises ({describe_exception(error)})",
                    "Raise AttributeError for what it does not have.",
                )
            )
            return _ABSENT

    refusals.extend(_spec_version(look("spec_version")))
    order, budgets, edits = look("order"), look("budgets"), look("edits_user_input")
    order_refusals = list(_order(order, name))
    budget_refusals = list(_budgets(budgets, name))
    refusals.extend(order_refusals + budget_refusals)
    if edits is not _ABSENT and not isinstance(edits, bool):
        refusals.append(
            Refusal(f"edits_user_input is {printable(repr(edits), 100)}", "Set it to True or False.")
        )
    return Declarations(
        order=order if isinstance(order, Order) and not order_refusals else Order(),
        budgets=budgets if isinstance(budgets, tuple) and not budget_refusals else (),
        edits_user_input=edits is True,
    )


def _spec_version(version: object) -> Iterator[Refusal]:
    if version is _ABSENT or version == SPEC_VERSION:
        return
    if (
        not isinstance(version, tuple)
        or len(version) != len(SPEC_VERSION)
        or not all(isinstance(part, int) and not isinstance(part, bool) for part in version)
    ):
        yield Refusal(
            f"spec_version is {printable(repr(version), 100)}", f"Write it as a tuple, e.g. {SPEC_VERSION!r}."
        )
    elif not OLDEST_SPEC_VERSION <= version <= SPEC_VERSION:
        theirs, ours = ".".join(map(str, version)), ".".join(map(str, SPEC_VERSION))
        newer, mend = (
            ("a newer", "Upgrade continuity-core.")
            if version > SPEC_VERSION
            else ("an older", "Upgrade the plugin.")
        )
        yield Refusal(f"it is written for {newer} hook specification ({theirs}; this is {ours})", mend)


def _order(order: object, name: str) -> Iterator[Refusal]:
    if order is _ABSENT:
        return
    if not isinstance(order, Order):
        yield Refusal(
            f"order is {printable(repr(order), 100)}",
            "Make it an Order, e.g. order = Order(stage=Stage.RECOVER).",
        )
    elif name in order.runs_before or name in order.runs_after:
        yield Refusal("its order names itself", "Name other plugins in runs_before and runs_after.")


def _budgets(budgets: object, name: str) -> Iterator[Refusal]:
    if budgets is _ABSENT:
        return
    if not isinstance(budgets, tuple) or not all(isinstance(budget, Budget | Window) for budget in budgets):
        yield Refusal(
            f"budgets is {printable(repr(budgets), 100)}",
            'Make it a tuple of Budget, e.g. budgets = (Budget("retries", 3),).',
        )
        return
    for budget in budgets:
        if not isinstance(budget.name, str) or not _BUDGET_NAME.fullmatch(budget.name):
            yield Refusal(
                f"{printable(repr(budget.name), 100)} is no budget name",
                "Use small letters, digits, hyphens and underscores.",
            )
            return
        if isinstance(budget, Window) and name != WINDOW_PLUGIN:
            yield Refusal(
                f"it declares a Window ({budget.name}), which is not charged to max_resumes",
                f"Declare a Budget: only {WINDOW_PLUGIN} has a window.",
            )
    names = [budget.name for budget in budgets]
    for double in sorted({budget for budget in names if names.count(budget) > 1}):
        yield Refusal(f'two of its budgets are named "{double}"', "Give each a name of its own.")
    yield from _within([budget for budget in budgets if isinstance(budget, Budget)])


def _within(budgets: list[Budget]) -> Iterator[Refusal]:
    outer = {budget.name: budget.within for budget in budgets}
    for budget in budgets:
        path = [budget.name]
        while (step := outer[path[-1]]) is not None:
            if step not in outer:
                if len(path) == 1:
                    yield Refusal(
                        f'budget "{budget.name}" lies within {printable(repr(step), 100)}, not declared',
                        "Declare that Budget too, or leave within out.",
                    )
                break
            path.append(step)
            if step in path[:-1]:
                if step == budget.name and step == min(path):
                    yield Refusal(
                        f"its budgets lie within each other: {' -> '.join(path)}", "Cut the circle."
                    )
                break
