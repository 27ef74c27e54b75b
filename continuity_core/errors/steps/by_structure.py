"""What fields say: codes, stop reasons, statuses, types of exceptions, and where it happened."""

from __future__ import annotations

from continuity_core.errors.deliberation import Deliberation, Verdict
from continuity_core.errors.fields import Field, plain_name
from continuity_core.errors.names import row_of_name
from continuity_core.errors.tables import codes, length
from continuity_core.errors.tables.exception_names import (
    ABORTS,
    kind_of_exception,
)
from continuity_core.errors.tables.statuses import by_status
from continuity_core.model.cause import CauseKind

_STATUSES_THAT_DECIDE = frozenset({401, 404, 408, 409})
_IDS_OF_CALLS = frozenset({"tooluseid", "toolcallid", "mcptooluseid"})
_STOP_REASONS = (
    (length.STOPPED_BY_LENGTH, CauseKind.LENGTH),
    (length.STOPPED_BY_CONTEXT, CauseKind.CONTEXT_OVERFLOW),
    (length.STOPPED_BY_POLICY, CauseKind.PERMANENT),
    (length.STOPPED_BY_FAULT, CauseKind.TRANSIENT),
)


def elsewhere(case: Deliberation) -> Verdict | None:
    """Whether it happened where no provider speaks."""
    if case.evidence.failure.where == "tool":
        return Verdict(CauseKind.UNKNOWN, "A tool failed, not the provider.", "where:tool")
    raw = case.evidence.raw
    if ("isError" in raw or "is_error" in raw) and _is_a_tools_result(case):
        return Verdict(
            CauseKind.UNKNOWN, "The text is a tool's result, marked as an error.", "where:tool-result"
        )
    return None


def _is_a_tools_result(case: Deliberation) -> bool:
    """Whether fields are those of a failed result of MCP (``isError``) or of a block of Anthropic's."""
    fields = case.evidence.fields
    if any(field.spelling == "isError" and field.value is True for field in fields):
        return True
    return any(field.name == "iserror" and field.value is True for field in fields) and any(
        field.name in _IDS_OF_CALLS
        or (field.name == "type" and str(field.value).rpartition(".")[2].endswith("tool_result"))
        for field in fields
    )


def decisive_code(case: Deliberation) -> Verdict | None:
    """A code or type that settles it; what a gateway quotes outranks its own."""
    quoted: tuple[str, int] | None = None
    for code, depth in case.evidence.codes:
        if code in codes.QUOTA:
            return _quota(case, code)
        row = codes.DECISIVE.get(code)
        if row is None:
            refused = codes.WEAK.get(code, (None,))[0] is CauseKind.PERMANENT
            quoted = quoted or ((code, depth) if refused or code in codes.LIMIT else None)
        elif row[0] is CauseKind.TRANSIENT and case.find("overflow") is not None:
            continue
        elif quoted is None or quoted[1] <= depth or row[0] is not CauseKind.TRANSIENT:
            return Verdict(
                row[0],
                f"The provider's code or type {case.evidence.spelled(code)!r} means {row[0]}.",
                f"code:{code}",
            )
        elif quoted[0] in codes.LIMIT:
            shown_code = case.evidence.spelled(quoted[0])
            return case.limit(f"code:{quoted[0]}", f"the quoted provider's code is {shown_code!r}")
        else:
            own, theirs = case.evidence.spelled(code), case.evidence.spelled(quoted[0])
            why = f"The quoted provider's code {theirs!r} outranks the gateway's {own!r}."
            return Verdict(CauseKind.PERMANENT, why, f"code:{quoted[0]}")
    return None


def _quota(case: Deliberation, code: str) -> Verdict:
    if case.evidence.from_alibaba:
        return case.limit(f"code:{code}", "Alibaba uses this code for a throttle")
    if case.find("usage") is not None or case.comes_back():
        return case.limit(f"code:{code}", "a quota that comes back")
    return Verdict(
        CauseKind.PERMANENT,
        f"The provider's code {case.evidence.spelled(code)!r} means an empty account.",
        f"code:{code}",
    )


def stop_reason(case: Deliberation) -> Verdict | None:
    """The reason why the model stopped, in a field of that name."""
    fields = case.evidence.fields
    if case.evidence.failure.code:
        fields = [Field("stopreason", case.evidence.failure.code), *fields]
    incomplete = "incomplete" in case.evidence.text
    for name, value, *_ in fields:
        if not isinstance(value, str) or not (
            name in length.STOP_FIELDS or (incomplete and name == "reason")
        ):
            continue
        reason = plain_name(value)
        for prefix in length.STOP_FIELDS:
            reason = reason.removeprefix(prefix)
        for table, kind in _STOP_REASONS:
            if reason in table:
                return Verdict(
                    kind, f"The turn's stop reason {value!r} means {kind}.", f"stop-reason:{reason}"
                )
    return None


def stopped_by_an_error(case: Deliberation) -> Verdict | None:
    """A stop reason that says no more than that there was an error."""
    if any(field.name in length.STOP_FIELDS and field.value == "error" for field in case.evidence.fields):
        return Verdict(CauseKind.TRANSIENT, "The turn's stop reason is 'error'.", "stop-reason:error")
    return None


def limit_code(case: Deliberation) -> Verdict | None:
    """A code of some limit."""
    code = next((code for code, _depth in case.evidence.codes if code in codes.LIMIT), None)
    if code is None:
        return None
    return case.limit(f"code:{code}", f"the provider's code or type is {case.evidence.spelled(code)!r}")


def telling_status(case: Deliberation) -> Verdict | None:
    """An HTTP status that tells by itself."""
    status = case.evidence.status
    row = None if status is None else by_status(status)
    if row is None:
        return None
    kind, meaning = row
    if kind is CauseKind.RATE_LIMIT:
        return case.limit(f"status:{status}", f"HTTP {status} means {meaning}")
    return case.unless_told_otherwise(Verdict(kind, f"HTTP {status}: {meaning}.", f"status:{status}"))


def weak_code(case: Deliberation) -> Verdict | None:
    """A code that counts where no words do."""
    for code, _depth in case.evidence.codes:
        row = codes.WEAK.get(code)
        if row is not None and not (code == "invalidrequesterror" and case.says_nothing()):
            why = f"The provider's code or type is {case.evidence.spelled(code)!r}."
            return Verdict(row[0], why, f"code:{code}")
    return None


def words_of_a_name(case: Deliberation) -> Verdict | None:
    """What the words of a code or type tell that no table lists, where the status leaves room for it."""
    status = case.evidence.status
    if status in _STATUSES_THAT_DECIDE:
        return None
    for code, _depth in case.evidence.codes:
        spelling = case.evidence.spelled(code)
        row = None if code in codes.WEAK or code in codes.LIMIT else row_of_name(spelling)
        if row is None or (row.kind is CauseKind.TRANSIENT and status is not None and status < 500):
            continue
        return case.named(row, spelling)
    return None


def bad_request(case: Deliberation) -> Verdict | None:
    """Status 400 with a reason."""
    if case.evidence.status != 400 or case.says_nothing():
        return None
    why = "HTTP 400 with a reason: the same request fails again."
    return case.unless_told_otherwise(Verdict(CauseKind.PERMANENT, why, "status:400"))


def exception_type(case: Deliberation) -> Verdict | None:
    """What the type of an exception tells, the outermost first."""
    for name in case.evidence.exception_names:
        kind = kind_of_exception(name)
        if kind is CauseKind.TRANSIENT and case.evidence.status == 400:
            continue  # there was an answer
        if kind is CauseKind.RATE_LIMIT:
            return case.limit(f"exception:{name}", f"the exception is a {case.evidence.spelled(name)}")
        if kind is not None:
            return case.unless_told_otherwise(
                Verdict(kind, f"The exception is a {case.evidence.spelled(name)}.", f"exception:{name}")
            )
    for name in case.evidence.exception_names:
        spelling = case.evidence.spelled(name)
        row = None if "invalidrequest" in name and _is_bare_400(case) else row_of_name(spelling)
        if row is not None:
            return case.named(row, spelling)
    if any(name in ABORTS for name in case.evidence.exception_names):
        return Verdict(CauseKind.CANCELLED, "The exception is an AbortError.", "exception:aborterror")
    return None


def _is_bare_400(case: Deliberation) -> bool:
    """Whether all that is told is status 400, which some frameworks raise under a name of their own."""
    return case.evidence.status == 400 and case.says_nothing()


def guidance_alone(case: Deliberation) -> Verdict | None:
    """A stated wait, where nothing says what for."""
    return case.limit("guidance", "the error states a wait") if case.guidance else None
