"""Whether a provider speaks: stops by the caller, tools, programs and displays of usage."""

from __future__ import annotations

from continuity_core.errors.deliberation import Deliberation, Verdict
from continuity_core.errors.forms import bare_stop, may_be_a_stop
from continuity_core.errors.speakers import a_tool_speaks, is_a_question, is_source, shows_usage
from continuity_core.errors.tables import codes
from continuity_core.errors.tables.exception_names import CANCELLATIONS, NEVER_A_PROVIDER, OF_TOOLS
from continuity_core.model.cause import CauseKind

_GROUPS = frozenset({"exceptiongroup", "baseexceptiongroup"})


def cancellation(case: Deliberation) -> Verdict | None:
    """A stop by the user or the caller: by the type of the exception, or a text that is nothing else."""
    # Only the outermost type counts: on asyncio every timeout is caused by a CancelledError.
    name = next((name for name in case.evidence.exception_names if name not in _GROUPS), "")
    if name in CANCELLATIONS or (name.endswith("cancellationexception") and "timeout" not in name):
        return Verdict(
            CauseKind.CANCELLED,
            f"{case.evidence.spelled(name)} is raised only where the caller stops.",
            f"exception:{name}",
        )
    bare = bare_stop(case.evidence.cores) if may_be_a_stop(case.evidence.text) else None
    if bare is not None and not _has_a_code_of_transport(case):  # Node's ``aborted`` with ECONNRESET
        return Verdict(CauseKind.CANCELLED, f"The text is nothing but {bare!r}.", "cancelled:bare")
    return case.worded("cancelled", CauseKind.CANCELLED, "the user or the caller stopped it")


def _has_a_code_of_transport(case: Deliberation) -> bool:
    return any(codes.WEAK.get(code, (None,))[0] is CauseKind.TRANSIENT for code, _ in case.evidence.codes)


def not_the_provider(case: Deliberation) -> Verdict | None:
    """A program, a tool or a display of usage that speaks in place of a provider."""
    if case.evidence.failure.status is not None:
        return None
    names = case.evidence.exception_names
    if names and NEVER_A_PROVIDER.issuperset(names) and not _quotes_a_provider(case):
        why = f"A {case.evidence.spelled(names[0])} is a mistake in a program, not the provider's error."
        return Verdict(CauseKind.UNKNOWN, why, f"exception:{names[0]}")
    if names and names[0] in OF_TOOLS:
        return Verdict(
            CauseKind.UNKNOWN,
            f"A {case.evidence.spelled(names[0])} is a tool's error.",
            f"exception:{names[0]}",
        )
    if is_a_question(case.evidence.text):
        return Verdict(CauseKind.UNKNOWN, "The text is a question of a person, no failure.", "question")
    if is_source(case.evidence.text, case.evidence.failure.message):
        why = "The text is a line of a program or of its settings, which only mentions an error."
        return Verdict(CauseKind.UNKNOWN, why, "source")
    if shows_usage(case.evidence.text) or _has_room(case):
        return Verdict(
            CauseKind.UNKNOWN,
            "The text shows how much of a limit is used, it tells of no failure.",
            "usage-display",
        )
    found = case.worded(
        "elsewhere",
        CauseKind.UNKNOWN,
        "a tool or the framework speaks, not the provider",
    )
    if found is None and a_tool_speaks(case.evidence.text):
        why = "The text begins with what a tool failed with, not the provider."
        return Verdict(CauseKind.UNKNOWN, why, "words:a tool")
    return found


def _has_room(case: Deliberation) -> bool:
    """Whether fields show a limit that is not reached, and no error."""
    text = case.evidence.text
    if "limit" not in text or "error" in text:
        return False
    return any(
        (field.name == "limitreached" and field.value is False)
        or (field.name == "allowed" and field.value is True)
        or (field.name == "status" and field.value == "allowed")
        for field in case.evidence.fields
    )


def _quotes_a_provider(case: Deliberation) -> bool:
    """Whether a field of the text has a code that providers send."""
    return any(
        code in table
        for code, _depth in case.evidence.codes
        for table in (codes.DECISIVE, codes.LIMIT, codes.QUOTA, codes.WEAK)
    )
