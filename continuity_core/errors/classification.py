"""What kind of failure it is: the order of evidence."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, tzinfo

from continuity_core.errors.deliberation import Deliberation, Verdict, shown
from continuity_core.errors.evidence import Evidence
from continuity_core.errors.fields import Field, plain_name
from continuity_core.errors.forms import (
    a_tool_speaks,
    bare_stop,
    field_complained_of,
    may_be_a_stop,
    shows_usage,
)
from continuity_core.errors.rules import ErrorRule, first_rule
from continuity_core.errors.sentences import CombinationIndex
from continuity_core.errors.sizes import larger_than_its_limit, more_tokens_than_fit
from continuity_core.errors.tables import codes, length
from continuity_core.errors.tables.combinations import (
    COMBINATIONS,
    LAST_WORDS,
    NO_ROOM,
    PLAIN_WORDS,
)
from continuity_core.errors.tables.exception_names import (
    ABORTS,
    CANCELLATIONS,
    NEVER_A_PROVIDER,
    PROGRAM_FAULTS,
    kind_of_exception,
)
from continuity_core.errors.tables.statuses import by_status
from continuity_core.model.cause import Cause, CauseKind
from continuity_core.model.failure import Failure

_GROUPS = frozenset({"exceptiongroup", "baseexceptiongroup"})
_GUIDED = frozenset(
    {CauseKind.RATE_LIMIT, CauseKind.USAGE_LIMIT, CauseKind.TRANSIENT, CauseKind.CONTEXT_OVERFLOW}
)
"""Kinds that keep their guidance: a wait beside an expired sign-in helps nobody."""

_CODE_WORD = re.compile(r"(?<![\w.'\"`/-])[a-z]{2,24}(?:_[a-z]{2,24}){1,6}(?![\w'\"`/=.-])")
"""A code as it stands in prose: neither quoted nor a part of a longer name."""


def classify(
    failure: Failure,
    *,
    now: datetime | None = None,
    rules: Sequence[ErrorRule] = (),
    timezone: tzinfo = UTC,
) -> Cause:
    """See :func:`continuity_core.errors.classify`."""
    evidence = Evidence(failure)
    return _Classifier(evidence, now or datetime.now(UTC), tuple(rules), timezone).verdict()


class _Classifier(Deliberation):
    """One failure on its way through the steps, first answer first."""

    def verdict(self) -> Cause:
        rule = first_rule(self.rules, self.evidence.text) if self.rules else None
        if rule is not None:
            guidance = self.guidance or ((rule.guidance,) if rule.guidance is not None else ())
            why = f"A rule of the configuration calls this text {rule.cause}."
            return Cause(
                kind=rule.cause, why=why, guidance=guidance if rule.cause in _GUIDED else (), rule=rule.label
            )
        found = self._first_answer()
        guidance = self.guidance if found.kind in _GUIDED else ()
        return Cause(kind=found.kind, why=found.why, guidance=guidance, rule=found.rule)

    def _first_answer(self) -> Verdict:
        for step in _STEPS:
            found = step(self)
            if found is not None:
                return found
        return Verdict(CauseKind.UNKNOWN, "Nothing in the error says what kind of failure it is.", "nothing")

    # The steps, in the order of evidence.

    def elsewhere(self) -> Verdict | None:
        if self.evidence.failure.where == "tool":
            return Verdict(CauseKind.UNKNOWN, "A tool failed, not the provider.", "where:tool")
        return None

    def cancellation(self) -> Verdict | None:
        # Only the outermost type counts: on asyncio every timeout is caused by a CancelledError.
        name = next((name for name in self.evidence.exception_names if name not in _GROUPS), "")
        if name in CANCELLATIONS:
            return Verdict(
                CauseKind.CANCELLED,
                f"{self.evidence.spelled(name)} is raised only where the caller stops.",
                f"exception:{name}",
            )
        bare = bare_stop(self.evidence.cores) if may_be_a_stop(self.evidence.text) else None
        if bare is not None:
            return Verdict(CauseKind.CANCELLED, f"The text is nothing but {bare!r}.", "cancelled:bare")
        return self.worded("cancelled", CauseKind.CANCELLED, "the user or the caller stopped it")

    def not_the_provider(self) -> Verdict | None:
        if self.evidence.failure.status is not None:
            return None
        names = self.evidence.exception_names
        if names and NEVER_A_PROVIDER.issuperset(names):
            why = f"A {self.evidence.spelled(names[0])} is a mistake in a program, not the provider's error."
            return Verdict(CauseKind.UNKNOWN, why, f"exception:{names[0]}")
        if shows_usage(self.evidence.text):
            return Verdict(
                CauseKind.UNKNOWN,
                "The text shows how much of a limit is used, it tells of no failure.",
                "usage-display",
            )
        found = self.worded(
            "elsewhere",
            CauseKind.UNKNOWN,
            "a tool or the framework speaks, not the provider",
        )
        if found is None and a_tool_speaks(self.evidence.text):
            why = "The text begins with what a tool failed with, not the provider."
            return Verdict(CauseKind.UNKNOWN, why, "words:a tool")
        return found

    def decisive_code(self) -> Verdict | None:
        quoted: tuple[str, int] | None = None
        for code, depth in self.evidence.codes:
            if code in codes.QUOTA:
                return self._quota(code)
            row = codes.DECISIVE.get(code)
            if row is None:
                refused = codes.WEAK.get(code, (None,))[0] is CauseKind.PERMANENT
                quoted = quoted or ((code, depth) if refused or code in codes.LIMIT else None)
            elif row[0] is CauseKind.TRANSIENT and self.find("overflow") is not None:
                continue
            elif quoted is None or quoted[1] <= depth or row[0] is not CauseKind.TRANSIENT:
                return Verdict(
                    row[0],
                    f"The provider's code or type {self.evidence.spelled(code)!r} means {row[0]}.",
                    f"code:{code}",
                )
            elif quoted[0] in codes.LIMIT:
                shown_code = self.evidence.spelled(quoted[0])
                return self.limit(f"code:{quoted[0]}", f"the quoted provider's code is {shown_code!r}")
            else:
                own, theirs = self.evidence.spelled(code), self.evidence.spelled(quoted[0])
                why = f"The quoted provider's code {theirs!r} outranks the gateway's {own!r}."
                return Verdict(CauseKind.PERMANENT, why, f"code:{quoted[0]}")
        return None

    def _quota(self, code: str) -> Verdict:
        if self.evidence.from_alibaba:
            return self.limit(f"code:{code}", "Alibaba uses this code for a throttle")
        if self.find("usage") is not None or self.comes_back():
            return self.limit(f"code:{code}", "a quota that comes back")
        return Verdict(
            CauseKind.PERMANENT,
            f"The provider's code {self.evidence.spelled(code)!r} means an empty account.",
            f"code:{code}",
        )

    def stop_reason(self) -> Verdict | None:
        fields = self.evidence.fields
        if self.evidence.failure.code:
            fields = [Field("stopreason", self.evidence.failure.code), *fields]
        incomplete = "incomplete" in self.evidence.text
        for name, value, *_ in fields:
            if not isinstance(value, str) or not (
                name in length.STOP_FIELDS or (incomplete and name == "reason")
            ):
                continue
            reason = plain_name(value)
            for table, kind in _STOP_REASONS:
                if reason in table:
                    return Verdict(
                        kind, f"The turn's stop reason {value!r} means {kind}.", f"stop-reason:{reason}"
                    )
        return None

    def parameter(self) -> Verdict | None:
        field = field_complained_of(self.evidence.text) if self.evidence.status in (400, 422) else None
        if field is not None and self.find("overflow") is None and self.find("too-large") is None:
            why = f"The text complains of the request's field {field!r}."
            return Verdict(CauseKind.PERMANENT, why, "parameter:field")
        return self.worded("parameter", CauseKind.PERMANENT, "a parameter of the request is wrong")

    def code_in_prose(self) -> Verdict | None:
        """A decisive code that stands in the text as a word of its own (``… (INSUFFICIENT_BALANCE)``)."""
        for word in _CODE_WORD.findall(self.evidence.text) if "_" in self.evidence.text else ():
            row = codes.DECISIVE.get(plain_name(word))
            if row is not None:
                return Verdict(
                    row[0], f"The text names the code {word!r}: {row[0]}.", f"code:{plain_name(word)}"
                )
        return None

    def output_cap(self) -> Verdict | None:
        return self.worded("length", CauseKind.LENGTH, "the output was cut at its cap")

    def too_large(self) -> Verdict | None:
        found = self.worded(
            "too-large",
            CauseKind.CONTEXT_OVERFLOW,
            "this one request is larger than the limit ever allows",
        )
        if found is not None:
            return found
        sizes = larger_than_its_limit(self.evidence.text)
        if sizes is None:
            return None
        asked, allowed = sizes
        why = f"This one request needs {asked} and the limit is {allowed}: waiting cannot help."
        return Verdict(CauseKind.CONTEXT_OVERFLOW, why, "too-large:requested-over-limit")

    def overflow(self) -> Verdict | None:
        found = self.worded(
            "overflow",
            CauseKind.CONTEXT_OVERFLOW,
            "the request does not fit the model's context",
        )
        if found is not None or self.find("throttle") is not None:
            return found
        sizes = more_tokens_than_fit(self.evidence.text)
        if sizes is None:
            return None
        asked, allowed = sizes
        why = f"The text compares {asked} tokens with a limit of {allowed}."
        return Verdict(CauseKind.CONTEXT_OVERFLOW, why, "overflow:more-than")

    def refused(self) -> Verdict | None:
        found = self.worded("safety", CauseKind.PERMANENT, "a safety filter refused it")
        if found is not None:
            return found
        usage = self.find("usage") if self.evidence.status in (403, 429, None) else None
        limited = self.find("throttle") is not None
        throttled = limited and bool(self.guidance)
        signed_out = self.evidence.status == 401
        if signed_out or not (usage or throttled):
            found = self.worded("auth", CauseKind.PERMANENT, "the sign-in or a permission is missing")
            if found is not None and (signed_out or not limited or found.rule not in _BARE_REFUSALS):
                return found
        found = self.worded(
            "billing",
            CauseKind.PERMANENT,
            "the account has no money or reached a spending cap",
        )
        if found is not None:
            return self.limit("billing:comes-back", "the balance comes back") if self.comes_back() else found
        return None if usage or throttled else self.plain_words()

    def plain_words(self) -> Verdict | None:
        """Words that stand together and end a run whatever broke besides."""
        if not PROGRAM_FAULTS.isdisjoint(self.evidence.exception_names):
            return None
        row = next(self.spoken_of(_PLAIN_WORDS), None)
        if row is None:
            return None
        if self.comes_back():
            return self.limit(f"words:{row.name}", "it comes back")
        return Verdict(row.kind, f"The text speaks of {row.name}.", f"words:{row.name}")

    def openai_quota(self) -> Verdict | None:
        if self.find("openai-quota") is None or self.evidence.from_google or self.evidence.from_alibaba:
            return None
        return self.worded("openai-quota", CauseKind.PERMANENT, "the account has no money left")

    def offer(self) -> Verdict | None:
        return self.worded("billing-offer", CauseKind.PERMANENT, "the account has no money left")

    def usage_window(self) -> Verdict | None:
        return self.worded("usage", CauseKind.USAGE_LIMIT, "a usage window is spent")

    def vague_window(self) -> Verdict | None:
        found = self.find("vague-window")
        if found is None:
            return None
        reason = f"the text says {shown(found)!r} ({found.source})"
        return self.limit(f"usage:{found.name}", reason, default=CauseKind.USAGE_LIMIT, wait_decides=True)

    def limit_code(self) -> Verdict | None:
        code = next((code for code, _depth in self.evidence.codes if code in codes.LIMIT), None)
        if code is None:
            return None
        return self.limit(f"code:{code}", f"the provider's code or type is {self.evidence.spelled(code)!r}")

    def throttle(self) -> Verdict | None:
        return self.worded_limit(self.find("throttle") or self.find("daily"))

    def vague_limit(self) -> Verdict | None:
        return self.worded_limit(self.find("vague-limit"))

    def hopeless(self) -> Verdict | None:
        return self.worded("hopeless", CauseKind.PERMANENT, "this request can never be served")

    def other_language(self) -> Verdict | None:
        told = self.in_another_language
        if told is None or (told.kind is CauseKind.TRANSIENT and self.evidence.status in (401, 402, 403)):
            return None
        rule = f"language:{told.name}"
        if told.kind is CauseKind.USAGE_LIMIT and told.name != "a window":
            return self.limit(rule, f"the text speaks of {told.name}", default=told.kind, wait_decides=True)
        if told.kind in (CauseKind.RATE_LIMIT, CauseKind.USAGE_LIMIT):
            return self.limit(rule, f"the text speaks of {told.name}", default=told.kind)
        if told.kind is CauseKind.PERMANENT and self.comes_back():
            return self.limit(rule, "it comes back")
        return Verdict(told.kind, f"The text speaks of {told.name}.", rule)

    def overload(self) -> Verdict | None:
        found = self.worded("overload", CauseKind.TRANSIENT, "the provider has no room at the moment")
        if found is None and self.evidence.status == 429 and self.spoken(NO_ROOM):
            return Verdict(NO_ROOM.kind, f"The text speaks of {NO_ROOM.name}.", f"words:{NO_ROOM.name}")
        return found

    def certificate(self) -> Verdict | None:
        return self.worded("certificate", CauseKind.PERMANENT, "the certificate cannot be trusted")

    def request_refused(self) -> bool:
        """Whether status 400 and a code of a wrong request agree: words of trouble are then but mentioned."""
        if self.evidence.status != 400:
            return False
        return any(codes.WEAK.get(code, (None,))[0] is CauseKind.PERMANENT for code, _ in self.evidence.codes)

    def transport(self) -> Verdict | None:
        if "terminated" in self.evidence.text and "terminated" in self.evidence.cores:
            why = "The text is nothing but 'terminated' (Node)."
            return Verdict(CauseKind.TRANSIENT, why, "transport:terminated")
        status = self.evidence.status  # of the handshake, say: what broke is the sign-in, not the socket
        if status in (401, 402) or (status == 403 and "temporar" not in self.evidence.text):
            return None
        return self.worded(
            "transport",
            CauseKind.TRANSIENT,
            "the connection, the stream or a proxy broke",
        )

    def server_fault(self) -> Verdict | None:
        if self.evidence.status in (401, 402, 403, 404, 422):
            return None
        return self.worded("server", CauseKind.TRANSIENT, "the provider failed by itself")

    def combination(self) -> Verdict | None:
        """Words that stand together, where the status leaves room for what they tell."""
        status = self.evidence.status
        if status in _STATUSES_THAT_DECIDE or self.says_nothing():
            return None
        if not PROGRAM_FAULTS.isdisjoint(self.evidence.exception_names):
            return None
        for row in self.spoken_of(_COMBINATIONS):
            if not (
                status in (None, 400)
                or row.kind in _KINDS_BESIDE_A_STATUS
                or (status == 403 and row.name == "a limit")
            ):
                continue
            if row.kind is CauseKind.TRANSIENT and (
                self.request_refused() or (status == 400 and row.name == "a fault of the service")
            ):
                continue
            why = f"The text speaks of {row.name}."
            if row.kind in (CauseKind.RATE_LIMIT, CauseKind.USAGE_LIMIT):
                decides = row.kind is CauseKind.USAGE_LIMIT  # a bucket of a day may refill within seconds
                reason = f"it speaks of {row.name}"
                return self.limit(f"words:{row.name}", reason, default=row.kind, wait_decides=decides)
            if row.name == "money" and self.comes_back():
                return self.limit(f"words:{row.name}", "the balance comes back", default=row.kind)
            return Verdict(row.kind, why, f"words:{row.name}")
        return None

    def telling_status(self) -> Verdict | None:
        status = self.evidence.status
        row = None if status is None else by_status(status)
        if row is None:
            return None
        kind, meaning = row
        if kind is CauseKind.RATE_LIMIT:
            return self.limit(f"status:{status}", f"HTTP {status} means {meaning}")
        return self.unless_told_otherwise(Verdict(kind, f"HTTP {status}: {meaning}.", f"status:{status}"))

    def invalid(self) -> Verdict | None:
        return self.worded("invalid", CauseKind.PERMANENT, "the request itself is wrong")

    def weak_code(self) -> Verdict | None:
        for code, _depth in self.evidence.codes:
            row = codes.WEAK.get(code)
            if row is not None and not (code == "invalidrequesterror" and self.says_nothing()):
                why = f"The provider's code or type is {self.evidence.spelled(code)!r}."
                return Verdict(row[0], why, f"code:{code}")
        return None

    def bad_request(self) -> Verdict | None:
        if self.evidence.status != 400 or self.says_nothing():
            return None
        why = "HTTP 400 with a reason: the same request fails again."
        return self.unless_told_otherwise(Verdict(CauseKind.PERMANENT, why, "status:400"))

    def exception_type(self) -> Verdict | None:
        for name in self.evidence.exception_names:
            kind = kind_of_exception(name)
            if kind is CauseKind.RATE_LIMIT:
                return self.limit(f"exception:{name}", f"the exception is a {self.evidence.spelled(name)}")
            if kind is not None:
                return self.unless_told_otherwise(
                    Verdict(kind, f"The exception is a {self.evidence.spelled(name)}.", f"exception:{name}")
                )
        if any(name in ABORTS for name in self.evidence.exception_names):
            return Verdict(CauseKind.CANCELLED, "The exception is an AbortError.", "exception:aborterror")
        return None

    def last_words(self) -> Verdict | None:
        """Single words that lean one way, where nothing else tells."""
        if self.evidence.status == 400 or not PROGRAM_FAULTS.isdisjoint(self.evidence.exception_names):
            return None
        row = next(self.spoken_of(_LAST_WORDS), None)
        if row is None:
            return None
        return Verdict(row.kind, f"A word of the text speaks of {row.name}.", f"words:{row.name}")

    def vague(self) -> Verdict | None:
        if self.evidence.status == 400:
            return None
        return self.worded("vague", CauseKind.TRANSIENT, "the text only asks for another try")

    def guidance_alone(self) -> Verdict | None:
        return self.limit("guidance", "the error states a wait") if self.guidance else None


_BARE_REFUSALS = frozenset(
    {"auth:access denied", "auth:accessdenied", "auth:access blocked", "auth:permission denied"}
    | {"auth:<forbidden>", "auth:not allowed to"}
)
"""A refusal that may have any reason: where the text speaks of a throttle, that is the reason."""
_PLAIN_WORDS, _COMBINATIONS, _LAST_WORDS = map(CombinationIndex, (PLAIN_WORDS, COMBINATIONS, LAST_WORDS))
_STATUSES_THAT_DECIDE = frozenset({401, 404, 408, 409})
_KINDS_BESIDE_A_STATUS = frozenset({CauseKind.CONTEXT_OVERFLOW, CauseKind.USAGE_LIMIT})
"""What the words of an error with a telling status may still make of it."""
_STOP_REASONS = (
    (length.STOPPED_BY_LENGTH, CauseKind.LENGTH),
    (length.STOPPED_BY_CONTEXT, CauseKind.CONTEXT_OVERFLOW),
    (length.STOPPED_BY_POLICY, CauseKind.PERMANENT),
    (length.STOPPED_BY_FAULT, CauseKind.TRANSIENT),
)
_STEPS: tuple[Callable[[_Classifier], Verdict | None], ...] = (
    _Classifier.elsewhere,
    _Classifier.cancellation,
    _Classifier.not_the_provider,
    _Classifier.decisive_code,
    _Classifier.stop_reason,
    _Classifier.parameter,
    _Classifier.code_in_prose,
    _Classifier.output_cap,
    _Classifier.too_large,
    _Classifier.overflow,
    _Classifier.refused,
    _Classifier.openai_quota,
    _Classifier.usage_window,
    _Classifier.vague_window,
    _Classifier.limit_code,
    _Classifier.throttle,
    _Classifier.offer,
    _Classifier.hopeless,
    _Classifier.other_language,
    _Classifier.overload,
    _Classifier.certificate,
    _Classifier.transport,
    _Classifier.server_fault,
    _Classifier.vague_limit,
    _Classifier.combination,
    _Classifier.telling_status,
    _Classifier.invalid,
    _Classifier.weak_code,
    _Classifier.bad_request,
    _Classifier.exception_type,
    _Classifier.last_words,
    _Classifier.vague,
    _Classifier.retry_flag,
    _Classifier.guidance_alone,
)
