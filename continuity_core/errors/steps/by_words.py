"""What the words of a text say, where they alone do not settle it."""

from __future__ import annotations

import re

from continuity_core.errors.deliberation import Deliberation, Verdict, shown
from continuity_core.errors.fields import plain_name
from continuity_core.errors.forms import field_complained_of
from continuity_core.errors.names import row_of_name
from continuity_core.errors.sentences import CombinationIndex
from continuity_core.errors.sizes import larger_than_its_limit, more_tokens_than_fit
from continuity_core.errors.steps.by_faults import overload, request_refused
from continuity_core.errors.tables import codes
from continuity_core.errors.tables.combinations import COMBINATIONS, LIMITS
from continuity_core.errors.tables.early_words import OUTPUT_CAPS, PLAIN_WORDS, THE_CONTEXT
from continuity_core.errors.tables.exception_names import PROGRAM_FAULTS
from continuity_core.errors.tables.last_words import LAST_WORDS
from continuity_core.model.cause import CauseKind

_CODE_WORD = re.compile(r"(?<![\w.'\"`/-])[a-z]{2,24}(?:_[a-z]{2,24}){1,6}(?![\w'\"`/=.-])")
"""A code as it stands in prose: neither quoted nor a part of a longer name."""
_BARE_REFUSALS = frozenset(
    {
        "auth:unauthenticated",
        "auth:access denied",
        "auth:accessdenied",
        "auth:access blocked",
        "auth:permission denied",
    }
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
_REMOTE_CALL = re.compile(
    r"rpc error: code = "
    r"(invalidargument|permissiondenied|unauthenticated|notfound|failedprecondition|unimplemented)\b"
)
_VAGUE_BESIDE_A_REFUSAL = frozenset(
    {"a fault of the service", "a broken connection", "an error of the connection", "a page instead of JSON"}
)
_STATUSES_OF_GATEWAYS = frozenset({403, 500, 503})
"""Statuses with which gateways hand on a throttle of their provider."""
_PLAIN_RATES = frozenset({"a rate that is allowed", "requests that come too fast"})
_STATUSES_THAT_DECIDE = frozenset({401, 404, 408, 409})
_KINDS_BESIDE_A_STATUS = frozenset({CauseKind.CONTEXT_OVERFLOW, CauseKind.USAGE_LIMIT})
"""What the words of an error with a telling status may still make of it."""


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
    text = case.evidence.text
    row = next(case.spoken_of(_THE_CONTEXT), None) if "context" in text or "ctx" in text else None
    if row is not None and case.find("billing") is None:
        return Verdict(row.kind, f"The text speaks of {row.name}.", f"words:{row.name}")
    sizes = more_tokens_than_fit(text)
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
    limited = case.find("throttle") is not None or bool(usage) or any(map(case.spoken, LIMITS))
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
    if case.evidence.status == 429 and case.guidance:  # money does not come back at a stated time
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
            or (status in _STATUSES_OF_GATEWAYS and row.name in _PLAIN_RATES)
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
            return case.named(row, word)
    return None


def vague(case: Deliberation) -> Verdict | None:
    """Words that only ask for another try."""
    if case.evidence.status == 400 or case.evidence.guesses:
        return None
    return case.worded("vague", CauseKind.TRANSIENT, "the text only asks for another try")
