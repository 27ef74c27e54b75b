"""Words that lean one way; asked where nothing else tells."""

from __future__ import annotations

from continuity_core.errors.tables.words_together import (
    Combination,
    words_of,
)
from continuity_core.model.cause import CauseKind

_TOOLS = words_of("tool tools skill command agent agents function plugin hook file line test tests")

LAST_WORDS: tuple[Combination, ...] = (
    Combination(
        "a stop",
        CauseKind.CANCELLED,
        (
            words_of(
                "run turn task generation execution conversation session keyboard ctrl signal job workflow reply"
            ),
            words_of("interrupted interrupt cancelled canceled aborted"),
        ),
        words_of(
            "timeout connection stream server error network deadline upstream tool command retry retrying response prediction"
        ),
    ),
    Combination(
        "a cut answer",
        CauseKind.LENGTH,
        (words_of("response output answer completion reply generation"), words_of("truncated cut")),
        _TOOLS
        | words_of(
            "stream json sse chunk connection body bytes server http eof unexpected unexpectedly network"
        ),
    ),
    Combination(
        "an answer that did not come",
        CauseKind.TRANSIENT,
        (
            words_of("no not never without none nonetype null empty incomplete partial didn"),
            words_of(
                "response responses reply chunk chunks bytes answer event events completion respond received returned"
            ),
        ),
        _TOOLS | words_of("usage"),
    ),
    Combination(
        "an answer that was not read",
        CauseKind.TRANSIENT,
        (
            words_of(
                "parse parsing decode decoding deserialize deserializing read unexpected invalid malformed"
            ),
            words_of("response chunk event sse stream"),
        ),
        _TOOLS | words_of("schema argument arguments request parameter response_format"),
    ),
    Combination(
        "what an administrator has to do",
        CauseKind.PERMANENT,
        (
            words_of("ask contact admin administrator"),
            words_of("admin administrator owner"),
            words_of("enable access permission activate allow grant"),
        ),
        _TOOLS,
    ),
    Combination(
        "a key that has to be set",
        CauseKind.PERMANENT,
        (
            words_of("key keys api_key"),
            words_of("set add enter provide configure configured"),
            words_of("please first must need settings api"),
        ),
        _TOOLS | words_of("rate limit"),
    ),
    Combination(
        "too many at once",
        CauseKind.RATE_LIMIT,
        (
            words_of("too"),
            words_of("many"),
            words_of("messages requests calls attempts tries logins sessions"),
        ),
        _TOOLS | words_of("context allowed image images files"),
    ),
    Combination(
        "a key that is missing",
        CauseKind.PERMANENT,
        (words_of("missing"), words_of("token key credential credentials")),
        _TOOLS,
    ),
    Combination(
        "an empty pool",
        CauseKind.TRANSIENT,
        (words_of("pool"), words_of("exhausted timeout full")),
        _TOOLS,
    ),
    Combination(
        "what is not there",
        CauseKind.PERMANENT,
        (
            words_of("not isn aren cannot doesn don never longer unable"),
            words_of(
                "found find locate supported allowed provided enabled valid accepted configured exist exists permitted "
                "recognized recognised installed eligible authorized authorised specified implemented"
            ),
        ),
        _TOOLS,
    ),
    Combination(
        "a refusal",
        CauseKind.PERMANENT,
        (
            words_of(
                "deactivated disabled purchase upgrade unsupported suspended banned revoked forbidden prohibited "
                "unauthorized unauthorised credentials license licence insufficient incompatible misconfigured "
                "unrecognized unrecognised deprecated retired ineligible unsubscribed subscribe must verify "
                "verification terms outdated obsolete denied rejected refused invalid illegal malformed blocked "
                "removed flagged expired discontinued refusal inactive"
            ),
        ),
        _TOOLS | words_of("connection"),
    ),
    Combination(
        "attachments",
        CauseKind.PERMANENT,
        (
            words_of("image images pixels attachment attachments pdf audio video documents"),
            words_of("large big many exceeds exceed exceeded unsupported long invalid corrupted"),
        ),
        words_of("rate quota minute day"),
    ),
    Combination(
        "more than may be given",
        CauseKind.PERMANENT,
        (
            words_of("maximum max most"),
            words_of("tools functions sequences stop images files choices"),
            words_of("allowed supported expected got exceeds most given per"),
        ),
        words_of("rate quota minute day turn turns step steps iterations"),
    ),
    Combination(
        "a parameter out of its range",
        CauseKind.PERMANENT,
        (
            words_of("temperature top_p top_k logprobs seed penalty frequency_penalty presence_penalty n"),
            words_of("above below larger greater less maximum minimum must between range exceeds"),
        ),
    ),
    Combination(
        "the sign-in",
        CauseKind.PERMANENT,
        (
            words_of("auth authentication authorization login signin oauth credentials sso"),
            words_of("failed failure fail error required missing expired invalid denied rejected"),
        ),
        _TOOLS | words_of("timeout unavailable connection"),
    ),
    Combination(
        "what does not exist",
        CauseKind.PERMANENT,
        (words_of("no"), words_of("such")),
        _TOOLS | words_of("host directory"),
    ),
    Combination(
        "a wrong name or role",
        CauseKind.PERMANENT,
        (
            words_of("role roles name names parameter value id ids endpoint url address path"),
            words_of("bad wrong duplicate duplicated long reserved"),
        ),
        words_of("host resolve resolution dns"),
    ),
    Combination(
        "a passing trouble",
        CauseKind.TRANSIENT,
        (
            words_of(
                "temporarily temporary momentarily hiccup glitch outage maintenance unresponsive stalled flaky "
                "disruption intermittent timeout disconnected unreachable overload saturated congested congestion "
                "unavailable transient eof premature prematurely busy idle broken_pipe timed stalling"
            ),
        ),
        _TOOLS,
    ),
    Combination(
        "what is not ready",
        CauseKind.TRANSIENT,
        (
            words_of("not isn never"),
            words_of("ready"),
            words_of("model server backend endpoint service engine worker instance deployment llm"),
        ),
        _TOOLS,
    ),
    Combination(
        "what cools down",
        CauseKind.RATE_LIMIT,
        (words_of("cooling cooldown throttle throttled throttling quota ratelimit ratelimited"),),
        _TOOLS,
    ),
    Combination(
        "much to do",
        CauseKind.TRANSIENT,
        (
            words_of("high heavy elevated increased unusual peak"),
            words_of("load traffic volume demand latency error errors"),
        ),
        _TOOLS,
    ),
    Combination(
        "a queue",
        CauseKind.TRANSIENT,
        (words_of("queue queued"), words_of("position wait waiting full long length depth timeout ahead")),
        _TOOLS,
    ),
    Combination(
        "what took too long",
        CauseKind.TRANSIENT,
        (words_of("took takes taking waited"), words_of("long longer")),
        _TOOLS,
    ),
    Combination(
        "what nobody expected",
        CauseKind.TRANSIENT,
        (
            words_of("unexpected unexpectedly internal"),
            words_of("error end response eof close closed exit stop"),
        ),
        _TOOLS,
    ),
    Combination(
        "a side that failed",
        CauseKind.TRANSIENT,
        (
            words_of("our"),
            words_of("side end servers systems backend"),
            words_of("broke broken wrong failed issue problem error"),
        ),
        _TOOLS,
    ),
    Combination(
        "what was not reached",
        CauseKind.TRANSIENT,
        (
            words_of("reach reached connect contact fetch"),
            words_of("not couldn cannot can't unable failed failure"),
            words_of(
                "model server provider service api internet network upstream host url request backend endpoint"
            ),
        ),
        _TOOLS | words_of("limit max maximum"),
    ),
    Combination(
        "a cut body",
        CauseKind.TRANSIENT,
        (words_of("truncated cut incomplete partial"), words_of("body bytes json stream chunk sse event")),
        _TOOLS | words_of("schema"),
    ),
    Combination(
        "a call that failed",
        CauseKind.TRANSIENT,
        (words_of("fetch gateway handshake socket upload"), words_of("failed failure bad")),
        _TOOLS,
    ),
    Combination(
        "no JSON",
        CauseKind.TRANSIENT,
        (
            words_of("html json sse"),
            words_of("instead non unexpected end got returned received page incomplete"),
        ),
        _TOOLS | words_of("schema body format response_format mode must"),
    ),
    Combination(
        "trouble of the service",
        CauseKind.TRANSIENT,
        (
            words_of(
                "model provider server service llm upstream response stream engine backend inference gateway completion "
                "generation assistant endpoint"
            ),
            words_of(
                "error errored failed failure problem issue trouble unable cannot couldn stopped halted lost slow stuck queue "
                "queued hang hung broke broken down dead"
            ),
        ),
        _TOOLS
        | words_of(
            "bad loop turn turns step steps iteration iterations parse parser parsing argument arguments retrying plugin "
            "lock pattern context percent"
        ),
    ),
)
"""Words that lean one way; asked where nothing else tells."""
