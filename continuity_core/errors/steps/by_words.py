"""What the words of a text say, where they alone do not settle it."""

from __future__ import annotations

import re

from continuity_core.errors.deliberation import Deliberation, Verdict, shown
from continuity_core.errors.fields import plain_name
from continuity_core.errors.forms import bare_stop, field_complained_of, may_be_a_stop
from continuity_core.errors.names import row_of_name
from continuity_core.errors.sentences import CombinationIndex, stems_of
from continuity_core.errors.sizes import larger_than_its_limit, more_tokens_than_fit
from continuity_core.errors.speakers import a_tool_speaks, is_a_question, is_source, shows_usage
from continuity_core.errors.tables import codes
from continuity_core.errors.tables.combinations import (
    COMBINATIONS,
    LAST_WORDS,
    NO_ROOM,
    OUTPUT_CAPS,
    PLAIN_WORDS,
    THE_CONTEXT,
)
from continuity_core.errors.tables.exception_names import (
    CANCELLATIONS,
    NEVER_A_PROVIDER,
    OF_TOOLS,
    PROGRAM_FAULTS,
)
from continuity_core.model.cause import CauseKind

_FORWARDED = frozenset(
    {
        "transport:upstream request failed",
        "transport:upstream error",
        "transport:upstream_error",
        "transport:upstream provider",
    }
    | {"server:backend error", "server:inference failed", "server:inference error", "server:model error"}
)
"""Words with which a program hands on what a provider said: they tell nothing beside what is handed on."""
_NOT_REACHED = frozenset(
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
_GROUPS = frozenset({"exceptiongroup", "baseexceptiongroup"})
_CODE_WORD = re.compile(r"(?<![\w.'\"`/-])[a-z]{2,24}(?:_[a-z]{2,24}){1,6}(?![\w'\"`/=.-])")
"""A code as it stands in prose: neither quoted nor a part of a longer name."""
_BARE_REFUSALS = frozenset(
    {"auth:access denied", "auth:accessdenied", "auth:access blocked", "auth:permission denied"}
    | {
        "auth:<forbidden>",
        "auth:not allowed to",
        "auth:please log in",
        "auth:please sign in",
        "auth:please login",
    }
)
"""A refusal that may have any reason: where the text speaks of a throttle, that is the reason."""
_OUTPUT_CAPS, _THE_CONTEXT, _PLAIN_WORDS, _COMBINATIONS, _LAST_WORDS = map(
    CombinationIndex, (OUTPUT_CAPS, THE_CONTEXT, PLAIN_WORDS, COMBINATIONS, LAST_WORDS)
)
_LIMITS = tuple(row for row in COMBINATIONS if row.name in {"a window", "a throttle", "a limit"})
_OF_A_CONNECTION = stems_of("connection websocket socket stream retry retries attempts pool timeout time")
_REMOTE_CALL = re.compile(
    r"rpc error: code = "
    r"(invalidargument|permissiondenied|unauthenticated|notfound|failedprecondition|unimplemented)\b"
)
_CLAUSES_LENGTH = 512
_VAGUE_BESIDE_A_REFUSAL = frozenset(
    {"a fault of the service", "a broken connection", "an error of the connection", "a page instead of JSON"}
)
_STATUSES_THAT_DECIDE = frozenset({401, 404, 408, 409})
_KINDS_BESIDE_A_STATUS = frozenset({CauseKind.CONTEXT_OVERFLOW, CauseKind.USAGE_LIMIT})
"""What the words of an error with a telling status may still make of it."""


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
    if bare is not None:
        return Verdict(CauseKind.CANCELLED, f"The text is nothing but {bare!r}.", "cancelled:bare")
    return case.worded("cancelled", CauseKind.CANCELLED, "the user or the caller stopped it")


def not_the_provider(case: Deliberation) -> Verdict | None:
    """A program, a tool or a display of usage that speaks in place of a provider."""
    if case.evidence.failure.status is not None:
        return None
    names = case.evidence.exception_names
    if names and NEVER_A_PROVIDER.issuperset(names) and not quotes_a_provider(case):
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


def quotes_a_provider(case: Deliberation) -> bool:
    """Whether a field of the text has a code that providers send."""
    return any(
        code in table
        for code, _depth in case.evidence.codes
        for table in (codes.DECISIVE, codes.LIMIT, codes.QUOTA, codes.WEAK)
    )


def remote_call_refused(case: Deliberation) -> Verdict | None:
    """The code of a remote call that was refused (``rpc error: code = …``), whatever a gateway made of it."""
    found = _REMOTE_CALL.search(case.evidence.text) if "rpc error" in case.evidence.text else None
    if found is None:
        return None
    why = f"The remote call ended with {found.group(1)!r}: the same request fails again."
    return Verdict(CauseKind.PERMANENT, why, f"code:{found.group(1)}")


def parameter(case: Deliberation) -> Verdict | None:
    """A parameter or a named field of the request that is wrong."""
    field = field_complained_of(case.evidence.text) if case.evidence.status in (400, 422) else None
    if field is not None and case.find("overflow") is None and case.find("too-large") is None:
        why = f"The text complains of the request's field {field!r}."
        return Verdict(CauseKind.PERMANENT, why, "parameter:field")
    return case.worded("parameter", CauseKind.PERMANENT, "a parameter of the request is wrong")


def code_in_prose(case: Deliberation) -> Verdict | None:
    """A decisive code that stands in the text as a word of its own (``… (INSUFFICIENT_BALANCE)``)."""
    for word in _CODE_WORD.findall(case.evidence.text) if "_" in case.evidence.text else ():
        row = codes.DECISIVE.get(plain_name(word))
        if row is not None:
            return Verdict(row[0], f"The text names the code {word!r}: {row[0]}.", f"code:{plain_name(word)}")
    return None


def output_cap(case: Deliberation) -> Verdict | None:
    """An output that was cut at its cap."""
    found = case.worded("length", CauseKind.LENGTH, "the output was cut at its cap")
    if found is not None or case.evidence.status == 429 or case.find("throttle") is not None:
        return found
    if case.find("transport") is not None or not PROGRAM_FAULTS.isdisjoint(case.evidence.exception_names):
        return None
    row = next(case.spoken_of(_OUTPUT_CAPS), None)
    return None if row is None else Verdict(row.kind, f"The text speaks of {row.name}.", f"words:{row.name}")


def too_large(case: Deliberation) -> Verdict | None:
    """One request that is larger than its limit: no wait makes it fit."""
    found = case.worded(
        "too-large",
        CauseKind.CONTEXT_OVERFLOW,
        "this one request is larger than the limit ever allows",
    )
    if found is not None:
        return found
    sizes = larger_than_its_limit(case.evidence.text)
    if sizes is None:
        return None
    asked, allowed = sizes
    why = f"This one request needs {asked} and the limit is {allowed}: waiting cannot help."
    return Verdict(CauseKind.CONTEXT_OVERFLOW, why, "too-large:requested-over-limit")


def overflow(case: Deliberation) -> Verdict | None:
    """A request that does not fit the context of the model; with status 402 it fits but is not paid for."""
    if case.evidence.status == 402:
        return None
    found = case.worded(
        "overflow",
        CauseKind.CONTEXT_OVERFLOW,
        "the request does not fit the model's context",
    )
    if found is not None or case.find("throttle") is not None:
        return found
    row = next(case.spoken_of(_THE_CONTEXT), None)
    if row is not None and case.find("billing") is None:
        return Verdict(row.kind, f"The text speaks of {row.name}.", f"words:{row.name}")
    sizes = more_tokens_than_fit(case.evidence.text)
    if sizes is None:
        return None
    asked, allowed = sizes
    why = f"The text compares {asked} tokens with a limit of {allowed}."
    return Verdict(CauseKind.CONTEXT_OVERFLOW, why, "overflow:more-than")


def refused(case: Deliberation) -> Verdict | None:
    """Safety, sign-in and money, unless a limit with a stated wait stands beside."""
    found = case.worded("safety", CauseKind.PERMANENT, "a safety filter refused it")
    if found is not None:
        return found
    usage = case.find("usage") if case.evidence.status in (402, 403, 429, None) else None
    limited = case.find("throttle") is not None or bool(usage) or any(map(case.spoken, _LIMITS))
    throttled = case.find("throttle") is not None and bool(case.guidance)
    signed_out = case.evidence.status == 401
    if signed_out or not (usage or throttled):
        found = case.worded("auth", CauseKind.PERMANENT, "the sign-in or a permission is missing")
        if found is not None and (signed_out or not limited or found.rule not in _BARE_REFUSALS):
            return found
    found = case.worded(
        "billing",
        CauseKind.PERMANENT,
        "the account has no money or reached a spending cap",
    )
    if found is not None and not (
        usage and (found.rule == "billing:payment required" or usage.name.endswith("for today"))
    ):
        return case.limit("billing:comes-back", "the balance comes back") if case.comes_back() else found
    return None if usage or throttled else plain_words(case)


def plain_words(case: Deliberation) -> Verdict | None:
    """Words that stand together and end a run whatever broke besides."""
    return _first_spoken(case, _PLAIN_WORDS)


def _first_spoken(case: Deliberation, index: CombinationIndex) -> Verdict | None:
    """What the first row tells of which the text speaks; a limit, where that comes back."""
    if not PROGRAM_FAULTS.isdisjoint(case.evidence.exception_names):
        return None
    row = next(case.spoken_of(index), None)
    if row is None:
        return None
    if row.kind is CauseKind.RATE_LIMIT:
        return case.limit(f"words:{row.name}", f"it speaks of {row.name}")
    if case.comes_back():
        return case.limit(f"words:{row.name}", "what is missing comes back")
    return Verdict(row.kind, f"The text speaks of {row.name}.", f"words:{row.name}")


def openai_quota(case: Deliberation) -> Verdict | None:
    """The words with which OpenAI says that the money is gone, and others that a quota is."""
    if case.find("openai-quota") is None or case.evidence.from_google or case.evidence.from_alibaba:
        return None
    return case.worded("openai-quota", CauseKind.PERMANENT, "the account has no money left")


def vague_window(case: Deliberation) -> Verdict | None:
    """Words of a window that a short stated wait makes a throttle."""
    found = case.find("vague-window")
    if found is None:
        return None
    reason = f"the text says {shown(found)!r} ({found.source})"
    return case.limit(f"usage:{found.name}", reason, default=CauseKind.USAGE_LIMIT, wait_decides=True)


def throttle(case: Deliberation) -> Verdict | None:
    """A throttle, or a bucket of a day, unless the provider's own type says that its server is overloaded."""
    if case.find("overload") is not None and any(
        code == "servererror" for code, _depth in case.evidence.codes
    ):
        return overload(case)
    return case.worded_limit(case.find("throttle") or case.find("daily"))


def vague_limit(case: Deliberation) -> Verdict | None:
    """A limit of which the words say no more."""
    return case.worded_limit(case.find("vague-limit"))


def other_language(case: Deliberation) -> Verdict | None:
    """What the text says in another language than English."""
    told = case.in_another_language
    if told is None or (told.kind is CauseKind.TRANSIENT and case.evidence.status in (401, 402, 403)):
        return None
    rule = f"language:{told.name}"
    if told.kind is CauseKind.USAGE_LIMIT and told.name != "a window":
        return case.limit(rule, f"the text speaks of {told.name}", default=told.kind, wait_decides=True)
    if told.kind in (CauseKind.RATE_LIMIT, CauseKind.USAGE_LIMIT):
        if case.find("overload") is not None:  # its load has a limit, too
            return None
        return case.limit(rule, f"the text speaks of {told.name}", default=told.kind)
    if told.kind is CauseKind.PERMANENT and case.comes_back():
        return case.limit(rule, "it comes back")
    return Verdict(told.kind, f"The text speaks of {told.name}.", rule)


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
    if found.rule in _FORWARDED:
        return None if refused or case.find("invalid") is not None else found
    return None if refused and found.rule in _NOT_REACHED else found


def _limit_behind(case: Deliberation) -> Verdict | None:
    """A limit that is told as the reason of a broken stream: ``stream disconnected: the cap is reached``."""
    if ": " not in case.evidence.text or not any(row.may_match(case.evidence.stems) for row in _LIMITS):
        return None
    for clause in case.evidence.text[:_CLAUSES_LENGTH].split(": ")[1:]:
        stems = stems_of(clause.partition(". ")[0])
        row = next((row for row in _LIMITS if row.matches(stems)), None)
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
    if found is not None and "unavailable" in found.rule and "reset" in case.evidence.text and case.guidance:
        return case.limit(found.rule, "what is unavailable is reset at a stated time")
    return found


def combination(case: Deliberation) -> Verdict | None:
    """Words that stand together, where the status leaves room for what they tell."""
    status = case.evidence.status
    if status in _STATUSES_THAT_DECIDE or case.says_nothing():
        return None
    if not PROGRAM_FAULTS.isdisjoint(case.evidence.exception_names):
        return None
    for row in case.spoken_of(_COMBINATIONS):
        if not (
            status in (None, 400)
            or row.kind in _KINDS_BESIDE_A_STATUS
            or (status in (402, 403) and row.name == "a limit")
        ):
            continue
        if row.kind is CauseKind.CONTEXT_OVERFLOW and (
            status == 402 or (status == 429 and case.guidance)  # what does not fit fits after no wait
        ):
            continue
        if row.kind is CauseKind.TRANSIENT and (
            request_refused(case)
            or (row.name in _VAGUE_BESIDE_A_REFUSAL and (status == 400 or case.find("invalid") is not None))
        ):
            continue
        why = f"The text speaks of {row.name}."
        if row.kind in (CauseKind.RATE_LIMIT, CauseKind.USAGE_LIMIT):
            decides = row.kind is CauseKind.USAGE_LIMIT  # a bucket of a day may refill within seconds
            reason = f"it speaks of {row.name}"
            default = CauseKind.USAGE_LIMIT if status == 402 else row.kind  # what is paid for by the month
            return case.limit(f"words:{row.name}", reason, default=default, wait_decides=decides)
        if row.name == "money" and case.comes_back():
            return case.limit(f"words:{row.name}", "the balance comes back", default=row.kind)
        return Verdict(row.kind, why, f"words:{row.name}")
    return None


def last_words(case: Deliberation) -> Verdict | None:
    """Single words that lean one way, where nothing else tells."""
    if case.evidence.status == 400 or case.evidence.guesses:
        return None
    return _first_spoken(case, _LAST_WORDS)


def name_in_prose(case: Deliberation) -> Verdict | None:
    """A code that no table lists and that stands in the text as a word of its own."""
    if case.evidence.status == 400 or "_" not in case.evidence.text:
        return None
    for word in _CODE_WORD.findall(case.evidence.text):
        row = row_of_name(word)
        if row is not None:
            why = f"The words of {word!r} tell of {row.name}."
            if row.kind in (CauseKind.RATE_LIMIT, CauseKind.USAGE_LIMIT):
                return case.limit(f"name:{row.name}", f"the text says {word!r}", default=row.kind)
            return Verdict(row.kind, why, f"name:{row.name}")
    return None


def vague(case: Deliberation) -> Verdict | None:
    """Words that only ask for another try."""
    if case.evidence.status == 400 or case.evidence.guesses:
        return None
    return case.worded("vague", CauseKind.TRANSIENT, "the text only asks for another try")
