"""What kind of failure it is: the order of evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, tzinfo
from typing import NamedTuple

from continuity_core.errors.deliberation import Deliberation, Verdict
from continuity_core.errors.evidence import Evidence
from continuity_core.errors.rules import ErrorRule, first_rule
from continuity_core.errors.steps import by_faults, by_speaker, by_structure, by_words
from continuity_core.model.cause import Cause, CauseKind
from continuity_core.model.failure import Failure

_GUIDED = frozenset(
    {CauseKind.RATE_LIMIT, CauseKind.USAGE_LIMIT, CauseKind.TRANSIENT, CauseKind.CONTEXT_OVERFLOW}
)
"""Kinds that keep their guidance: a wait beside an expired sign-in helps nobody."""


class Step(NamedTuple):
    """A question to the evidence."""

    ask: Callable[[Deliberation], Verdict | None]
    table: str | None = None
    """The table of wordings without which the step has nothing to say."""


def _worded(table: str, kind: CauseKind, meaning: str) -> Step:
    """A step that is settled by one table of wordings."""
    return Step(lambda case: case.worded(table, kind, meaning), table)


STEPS = (
    Step(by_structure.elsewhere),
    Step(by_speaker.cancellation),
    Step(by_speaker.not_the_provider),
    Step(by_structure.decisive_code),
    Step(by_structure.stop_reason),
    Step(by_words.parameter),
    Step(by_words.code_in_prose),
    Step(by_words.output_cap),
    Step(by_words.too_large),
    Step(by_words.overflow),
    Step(by_words.remote_call_refused),
    Step(by_words.refused),
    Step(by_words.openai_quota, "openai-quota"),
    _worded("usage", CauseKind.USAGE_LIMIT, "a usage window is spent"),
    Step(by_words.vague_window, "vague-window"),
    Step(by_structure.limit_code),
    Step(by_words.throttle),
    _worded("billing-offer", CauseKind.PERMANENT, "the account has no money left"),
    _worded("hopeless", CauseKind.PERMANENT, "this request can never be served"),
    Step(by_words.other_language),
    Step(by_faults.overload),
    _worded("certificate", CauseKind.PERMANENT, "the certificate cannot be trusted"),
    Step(by_faults.bare_break),
    Step(by_faults.transport, "transport"),
    Step(by_faults.server_fault, "server"),
    Step(by_words.vague_limit, "vague-limit"),
    Step(by_words.combination),
    Step(by_structure.words_of_a_name),
    Step(by_structure.telling_status),
    _worded("invalid", CauseKind.PERMANENT, "the request itself is wrong"),
    Step(by_structure.weak_code),
    Step(by_structure.bad_request),
    Step(by_structure.exception_type),
    Step(by_words.name_in_prose),
    Step(by_words.last_words),
    Step(by_structure.stopped_by_an_error),
    Step(by_words.vague, "vague"),
    Step(Deliberation.retry_flag),
    Step(by_structure.guidance_alone),
)
"""The order of evidence: the first answer stands."""


def classify(
    failure: Failure,
    *,
    now: datetime | None = None,
    rules: Sequence[ErrorRule] = (),
    timezone: tzinfo = UTC,
) -> Cause:
    """See :func:`continuity_core.errors.classify`."""
    case = Deliberation(Evidence(failure), now or datetime.now(UTC), timezone)
    rule = first_rule(rules, case.evidence.text) if rules else None
    if rule is None:
        found = _first_answer(case)
        return Cause(
            kind=found.kind,
            why=found.why,
            guidance=case.guidance if found.kind in _GUIDED else (),
            rule=found.rule,
        )
    stated = case.guidance or ((rule.guidance,) if rule.guidance is not None else ())
    return Cause(
        kind=rule.cause,
        why=f"A rule of the configuration calls this text {rule.cause}.",
        guidance=stated if rule.cause in _GUIDED else (),
        rule=rule.label,
    )


def _first_answer(case: Deliberation) -> Verdict:
    matches = case.matches
    for ask, table in STEPS:
        found = ask(case) if table is None or table in matches else None
        if found is not None:
            return found
    return Verdict(CauseKind.UNKNOWN, "Nothing in the error says what kind of failure it is.", "nothing")
