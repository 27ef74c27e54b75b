"""What is told of broken connections, and of services that fail or have no room."""

from __future__ import annotations

from continuity_core.errors.deliberation import Deliberation, Verdict
from continuity_core.errors.sentences import stems_of
from continuity_core.errors.tables import codes
from continuity_core.errors.tables.combinations import LIMITS
from continuity_core.errors.tables.early_words import NO_ROOM
from continuity_core.model.cause import CauseKind

FORWARDED = frozenset(
    {
        "transport:upstream request failed",
        "transport:upstream error",
        "transport:upstream_error",
        "transport:upstream provider",
    }
    | {"server:backend error", "server:inference failed", "server:inference error", "server:model error"}
)
"""Words with which a program hands on what a provider said: they tell nothing beside what is handed on."""
NOT_REACHED = frozenset(
    f"transport:{words}"
    for words in (
        "failed to connect",
        "unable to connect",
        "cannot connect",
        "can't connect",
        "could not connect",
        "couldn't connect",
        "connection error",
        "connection failed",
        "connection failure",
        "connection problem",
        "network error",
        "network request failed",
        "network issue",
        "fetch failed",
        "failed to fetch",
    )
)
"""Words of a program that met no answer: where an answer refused the request, it was reached."""
SAYING_LITTLE = frozenset(
    {
        "server:an error occurred while processing your request",
        "server:application error",
        "server:unexpected error",
        "server:unexpected error during processing",
    }
)
"""Words for any failure: status 429 says more."""
_OF_A_CONNECTION = stems_of("connection websocket socket stream retry retries attempts pool timeout time")
_CLAUSES_LENGTH = 512


def overload(case: Deliberation) -> Verdict | None:
    """No room at the provider."""
    found = case.worded("overload", CauseKind.TRANSIENT, "the provider has no room at the moment")
    if found is None and case.evidence.status == 429 and case.spoken(NO_ROOM):
        return Verdict(NO_ROOM.kind, f"The text speaks of {NO_ROOM.name}.", f"words:{NO_ROOM.name}")
    return found


def request_refused(case: Deliberation) -> bool:
    """Whether status 400 and a code of a wrong request agree: words of trouble are then but mentioned."""
    if case.evidence.status != 400:
        return False
    return any(codes.WEAK.get(code, (None,))[0] is CauseKind.PERMANENT for code, _ in case.evidence.codes)


def bare_break(case: Deliberation) -> Verdict | None:
    """Node's one word for a connection that broke, behind whatever is printed before it."""
    if "terminated" in case.evidence.text and "terminated" in case.evidence.cores:
        why = "The text is nothing but 'terminated' (Node)."
        return Verdict(CauseKind.TRANSIENT, why, "transport:terminated")
    return None


def transport(case: Deliberation) -> Verdict | None:
    """A connection, a stream or a proxy that broke."""
    status = case.evidence.status  # of the handshake, say: what broke is the sign-in, not the socket
    if status in (401, 402) or (status == 403 and "temporar" not in case.evidence.text):
        return None
    if request_refused(case):
        return None
    return _limit_behind(case) or _unless_forwarded(
        case,
        case.worded(
            "transport",
            CauseKind.TRANSIENT,
            "the connection, the stream or a proxy broke",
        ),
    )


def _unless_forwarded(case: Deliberation, found: Verdict | None) -> Verdict | None:
    if found is None:
        return None
    refused = case.evidence.status in (400, 404, 422)
    if found.rule in FORWARDED:
        return None if refused or case.find("invalid") is not None else found
    return None if refused and found.rule in NOT_REACHED else found


def _limit_behind(case: Deliberation) -> Verdict | None:
    """A limit that is told as the reason of a broken stream: ``stream disconnected: the cap is reached``."""
    if ": " not in case.evidence.text or not any(row.may_match(case.evidence.stems) for row in LIMITS):
        return None
    for clause in case.evidence.text[:_CLAUSES_LENGTH].split(": ")[1:]:
        stems = stems_of(clause.partition(". ")[0])
        row = next((row for row in LIMITS if row.matches(stems)), None)
        if row is not None and _OF_A_CONNECTION.isdisjoint(stems):
            return case.limit(
                f"words:{row.name}", f"it speaks of {row.name}", default=row.kind, wait_decides=True
            )
    return None


def server_fault(case: Deliberation) -> Verdict | None:
    """A fault of the server."""
    if case.evidence.status in (401, 402, 403, 404, 422):
        return None
    found = _unless_forwarded(
        case, case.worded("server", CauseKind.TRANSIENT, "the provider failed by itself")
    )
    if found is not None and found.rule in SAYING_LITTLE and case.evidence.status == 429:
        return None
    if found is not None and found.rule == "server:<unavailable>" and request_refused(case):
        return None
    if found is not None and "unavailable" in found.rule and "reset" in case.evidence.text and case.guidance:
        return case.limit(found.rule, "what is unavailable is reset at a stated time")
    return found
