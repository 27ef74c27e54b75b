"""What errors are about, by words that stand together in one sentence; asked where no known wording stands.

A row holds groups of words. It applies to a sentence that has at least one word of every group and none of those
that make it something else. Rows are in the order of evidence.
"""

from __future__ import annotations

from typing import NamedTuple

from continuity_core.errors.stems import stem
from continuity_core.model.cause import CauseKind


def _words(text: str) -> frozenset[str]:
    return frozenset([stem(word) for word in text.split()])


class Combination(NamedTuple):
    """Groups of words that together tell what kind of failure it is."""

    name: str
    kind: CauseKind
    groups: tuple[frozenset[str], ...]
    unless: frozenset[str] = frozenset()

    def matches(self, sentence: frozenset[str]) -> bool:
        """Whether a sentence with these words is meant."""
        return self.may_match(sentence) and self.unless.isdisjoint(sentence)

    def may_match(self, words: frozenset[str]) -> bool:
        """Whether a sentence out of these words may be meant."""
        return not any(map(words.isdisjoint, self.groups))


_TOO_MUCH = _words(
    "long longer large larger big exceed exceeds exceeded exceeding over above overflow beyond surpasses supports"
)
_REACHED = _words(
    "reached exceeded exceed exceeds hit used exhausted consumed spent depleted no out over limited left cap capped none "
    "gone full"
)
_RATES = _words(
    "minute minutes min second seconds rpm tpm qps rps rate throttled throttle throughput hour hourly day daily week "
    "weekly month monthly today quota plan subscription bucket tier pricing concurrency"
)
_RATES_OF_SECONDS = _words("minute minutes min second seconds rpm tpm rate throughput concurrent concurrency")
_WRONG = _words(
    "invalid denied revoked locked insufficient missing expired unauthorized unauthorised wrong need needs must not "
    "disabled suspended blocked rejected incorrect bad lacks"
)

PLAIN_WORDS: tuple[Combination, ...] = (
    Combination(
        "a key that does not open",
        CauseKind.PERMANENT,
        (
            _words("key keys apikey api_key credential credentials"),
            _words(
                "api apikey api_key credential credentials access auth secret subscription openai anthropic provider "
                "account your"
            ),
            _words(
                "missing invalid expired revoked incorrect unset wrong configured inactive deactivated unauthorized "
                "malformed empty blank unknown unrecognized"
            ),
        ),
        _words("rate limit limited cooldown quota request metadata header parameter backed throttled"),
    ),
    Combination(
        "a token that does not open",
        CauseKind.PERMANENT,
        (
            _words("token"),
            _words("missing revoked unset configured inactive unauthorized blank"),
            _words(
                "auth access bearer refresh login provider api session oauth authentication anthropic openai"
            ),
        ),
        _words("rate limit count max_tokens tokens_left"),
    ),
    Combination(
        "a certificate",
        CauseKind.PERMANENT,
        (
            _words("certificate cert"),
            _words(
                "self signed issuer verify verified verification expired invalid untrusted chain trust unknown mismatch "
                "altname hostname"
            ),
        ),
    ),
    Combination(
        "a safety filter",
        CauseKind.PERMANENT,
        (
            _words("prompt input output response content message request"),
            _words("blocked flagged filtered prohibited refused tripped triggered intercepted"),
            _words(
                "security safety policy policies moderation guardrail compliance violation harmful unsafe"
            ),
        ),
        _words("proxy dns cors gateway connection firewall"),
    ),
    Combination(
        "a plan without it",
        CauseKind.PERMANENT,
        (
            _words("plan tier subscription package membership license licence"),
            _words(
                "support supported include included available allow allowed entitled access eligible offered use"
            ),
            _words("not doesn isn cannot no without lacks requires required only need needs"),
        ),
        _words(
            "limit limits quota reached exceeded used reset resets until refresh rate day month week hour requests messages"
        ),
    ),
    Combination(
        "a plan that is asked for",
        CauseKind.PERMANENT,
        (
            _words("plan tier subscription membership license licence"),
            _words("requires required needs need upgrade"),
            _words("model models feature access requested enterprise pro team business paid endpoint"),
        ),
        _words(
            "limit limits quota reached exceeded used reset resets until refresh rate day month week hour requests messages credits"
        ),
    ),
    Combination(
        "an account that is shut",
        CauseKind.PERMANENT,
        (
            _words("account accounts organization organisation workspace team project user"),
            _words(
                "suspended deactivated banned disabled terminated locked frozen closed restricted blocked"
            ),
        ),
        _words("temporarily rate limit limited temporary until retry cooldown stream connection websocket"),
    ),
    Combination(
        "an empty purse",
        CauseKind.PERMANENT,
        (
            _words("balance credit credits funds prepaid wallet purse invoice payment spend spending budget"),
            _words(
                "insufficient exhausted depleted negative zero empty unpaid overdue declined ran run failed low cap reached "
                "exceeded exceeds limit cannot -"
            ),
        ),
        _words(
            "refresh reset resets renew context token_budget thinking tokens retry daily weekly reasoning rate"
        ),
    ),
)
"""What ends a run whatever broke besides: asked before limits, faults and statuses."""

SPOKEN_WINDOW = Combination(
    "a window",
    CauseKind.USAGE_LIMIT,
    (
        _words("daily weekly monthly today tomorrow hourly yearly"),
        _words(
            "limit limits quota cap requests request credits usage messages tokens allotment allowance calls budget prompts"
        ),
        _REACHED | _words("too many"),
    ),
    _words("minute second concurrent"),
)
"""A limit of a day or more by its adjective, not as a rate (``per day``), which refills while it is used."""

NO_ROOM = Combination(
    "no room",
    CauseKind.TRANSIENT,
    (
        _words("busy overloaded overload saturated capacity congested congestion"),
        _words(
            "server servers service model engine capacity cluster gpu backend provider system temporarily currently"
        ),
    ),
    _RATES | _words("request requests your account concurrent key"),
)
"""A service that is full says so under status 429, too."""

OUTPUT_CAPS: tuple[Combination, ...] = (
    Combination(
        "the output was cut",
        CauseKind.LENGTH,
        (
            _words("output response answer completion generation reply"),
            _words("truncated cut"),
            _words("token tokens length limit max maximum"),
        ),
    ),
    Combination(
        "the output cap",
        CauseKind.LENGTH,
        (
            _words("output completion length"),
            _words("token tokens length output max_tokens"),
            _words("limit cap maximum max quota allowance"),
            _words("reached exceeded hit exhausted"),
        ),
        (_RATES - _words("quota")) | _words("possibly request context input prompt"),
    ),
    Combination(
        "a cap by its name",
        CauseKind.LENGTH,
        (
            _words("max_tokens max_output_tokens max_completion_tokens max_new_tokens output_tokens"),
            _words(
                "reached reaching hit exhausted used truncated cut stopped ended incomplete finished reason"
            ),
        ),
        _RATES | _words("exceed must invalid parameter supported requested context"),
    ),
    Combination(
        "an answer that stopped at its length",
        CauseKind.LENGTH,
        (
            _words("output response answer completion generation reply"),
            _words("stopped ended truncated cut finished hit"),
            _words("token tokens length max_tokens"),
            _words("limit cap maximum max max_tokens long"),
        ),
        _RATES | _words("prompt input context"),
    ),
)
"""An output that was cut at its cap; asked before limits, whose words it shares."""

COMBINATIONS: tuple[Combination, ...] = (
    Combination(
        "stopped by the user",
        CauseKind.CANCELLED,
        (
            _words("user caller client"),
            _words(
                "abort aborted cancel cancelled canceled stopped interrupted rejected declined dismissed denied"
            ),
        ),
        _words("connection tool stream"),
    ),
    Combination(
        "the context",
        CauseKind.CONTEXT_OVERFLOW,
        (_words("context prompt input thread n_ctx ctx history conversation messages transcript"), _TOO_MUCH),
        _RATES | _words("deadline canceled output image timeout"),
    ),
    Combination(
        "the number of tokens",
        CauseKind.CONTEXT_OVERFLOW,
        (
            _words("tokens token"),
            _words("exceed exceeds exceeded over above longer"),
            _words("context length window model maximum max limit"),
        ),
        _RATES | _words("output completion"),
    ),
    Combination(
        "more tokens than fit",
        CauseKind.CONTEXT_OVERFLOW,
        (
            _words("tokens token"),
            _words("requested requires needs provided given has"),
            _words("context window n_ctx"),
        ),
        _RATES | _words("output completion"),
    ),
    Combination(
        "what does not fit",
        CauseKind.CONTEXT_OVERFLOW,
        (
            _words("not cannot doesn won too"),
            _words("fit fits"),
            _words("prompt input tokens context conversation messages request history"),
        ),
        _RATES | _words("output image file memory gpu"),
    ),
    Combination(
        "no room in the context",
        CauseKind.CONTEXT_OVERFLOW,
        (
            _words("context window prompt n_ctx transcript"),
            _words("out no full most only exhausted"),
            _words("room space tokens token conversation history"),
        ),
        _RATES | _words("output completion possibly"),
    ),
    Combination(
        "a prompt to be shortened",
        CauseKind.CONTEXT_OVERFLOW,
        (
            _words("shorten shorter trim"),
            _words("prompt input message messages conversation context history text"),
            _words("token tokens model limit maximum long window"),
        ),
        _RATES | _words("output completion image file name"),
    ),
    Combination(
        "the size of the request",
        CauseKind.CONTEXT_OVERFLOW,
        (_words("payload body request entity content"), _words("size length entity bytes kb mb"), _TOO_MUCH),
        _RATES | _words("image file"),
    ),
    Combination(
        "safety",
        CauseKind.PERMANENT,
        (
            _words("content response prompt moderation safety policy output guardrail guardrails"),
            _words(
                "blocked rejected violation violations violates unsafe harmful flagged filtered refused prohibited inappropriate"
            ),
        ),
    ),
    Combination(
        "an audit of the content",
        CauseKind.PERMANENT,
        (
            _words("audit moderation review compliance"),
            _words("content prompt input output response text message"),
            _words("failed rejected denied not blocked"),
        ),
    ),
    Combination(
        "money",
        CauseKind.PERMANENT,
        (
            _words("balance credit credits card payment billing funds invoice"),
            _words(
                "insufficient exhausted declined limit low zero negative out reached failed required depleted empty unpaid overdue"
            ),
        ),
        _words("weekly daily hourly"),
    ),
    Combination(
        "a plan that ended",
        CauseKind.PERMANENT,
        (
            _words("subscription trial plan membership license licence package"),
            _words("inactive expired ended over lapsed cancelled canceled terminated paused"),
        ),
        _words("limit limits quota rate stream connection window reset resets token tokens"),
    ),
    Combination(
        "a window",
        CauseKind.USAGE_LIMIT,
        (
            _words(
                "day daily week weekly month monthly today plan subscription session allotment allowance hourly"
            ),
            _words(
                "limit limits quota cap requests request credits usage messages tokens allotment allowance"
            ),
            _REACHED,
        ),
        _words("minute second concurrent rate throughput"),
    ),
    Combination(
        "a usage limit",
        CauseKind.USAGE_LIMIT,
        (
            _words("usage"),
            _words("limit limits quota cap allowance allotment allocation ceiling maximum"),
            _words("reached exceeded exceeds hit exhausted used consumed spent over maxed depleted gone"),
        ),
        _RATES_OF_SECONDS,
    ),
    Combination(
        "free uses",
        CauseKind.USAGE_LIMIT,
        (
            _words("free"),
            _words(
                "usage uses messages requests queries generations responses prompts chats questions runs turns "
                "completions quota calls allotment allowance limit"
            ),
            _words("used exhausted exceeded reached hit out more left gone spent consumed depleted ran"),
        ),
        _RATES_OF_SECONDS | _words("trial not doesn available account accounts"),
    ),
    Combination(
        "a window, in other languages",
        CauseKind.USAGE_LIMIT,
        (
            _words(
                "wöchentliches wöchentliche tägliches tägliche monatliches monatliche wochenkontingent "
                "tageskontingent hebdomadaire quotidien quotidienne mensuel mensuelle semanal diario diaria diário "
                "diária mensual mensal settimanale giornaliero giornaliera mensile недельный дневной месячный "
                "wekelijkse dagelijkse maandelijkse tygodniowy dzienny miesięczny haftalık günlük aylık"
            ),
            _words(
                "kontingent limit quota límite limite cuota cota лимит квота limiet limitu kota kotası limiti "
                "kontingente budget allowance"
            ),
        ),
    ),
    Combination(
        "a throttle",
        CauseKind.RATE_LIMIT,
        (
            _words("requests request rate rpm tpm qps rps throughput concurrency concurrent calls"),
            _words(
                "limit limits limited limiter quota cap allowance ceiling exceeded exceeds throttled many maximum max"
            ),
        ),
        _words(
            "recursion turn turns retries retry tool tools steps step iterations context image images dimensions "
            "pixels file files schema"
        ),
    ),
    Combination(
        "a limit",
        CauseKind.RATE_LIMIT,
        (
            _words("limit limits quota quotas cap allowance allotment"),
            _words("reached exceeded hit used exhausted consumed spent depleted gone full"),
        ),
        _words(
            "recursion turn turns retries retry tool tools steps step iterations context image images dimensions "
            "pixels file files schema time memory length size output token possibly window"
        ),
    ),
    Combination(
        "a limit",
        CauseKind.RATE_LIMIT,
        (
            _words("quota quotas allowance allotment"),
            _words("reached exceeded hit used exhausted consumed spent depleted gone"),
        ),
        _words("turn turns retries tool tools steps image images file files possibly"),
    ),
    Combination(
        "no room",
        CauseKind.TRANSIENT,
        (
            _words(
                "gpu gpus capacity workers worker replicas servers server model cluster backend engine provider service"
            ),
            _words("unavailable busy overloaded down saturated full offline crashed restarting"),
        ),
    ),
    Combination(
        "a model that is coming up",
        CauseKind.TRANSIENT,
        (
            _words(
                "model server engine weights backend deployment endpoint instance checkpoint runner replicas service"
            ),
            _words(
                "loading starting warming initializing initialising booting deploying provisioning scaling waking"
            ),
        ),
        _words("error failed not unsupported invalid tool mcp"),
    ),
    Combination(
        "a server that crashed",
        CauseKind.TRANSIENT,
        (
            _words("worker workers runner engine backend container pod instance replica gpu"),
            _words("exited died killed crashed terminated stopped lost panicked evicted preempted restarted"),
        ),
        _words("tool tools mcp hook command test tests"),
    ),
    Combination(
        "a name that was not resolved",
        CauseKind.TRANSIENT,
        (
            _words("lookup dns resolve resolver nameserver hostname"),
            _words("misbehaving failed failure error timed host"),
        ),
        _words("tool"),
    ),
    Combination(
        "no capacity",
        CauseKind.TRANSIENT,
        (
            _words("no not insufficient"),
            _words("available capacity"),
            _words("gpu gpus capacity workers worker replicas servers instances"),
        ),
    ),
    Combination(
        "a broken connection",
        CauseKind.TRANSIENT,
        (
            _words(
                "connection connect stream socket peer host upstream tls ssl dns network websocket response server sse chunk gateway proxy relay"
            ),
            _words(
                "reset closed close lost broken torn away gone vanished dropped drop aborted interrupted refused failed failure incomplete terminated timeout unexpectedly unreachable disconnected corrupt corrupted invalid malformed reading read"
            ),
        ),
    ),
    Combination(
        "an error of the connection",
        CauseKind.TRANSIENT,
        (
            _words("connection connect stream socket network websocket tls internet rst_stream eof fetch"),
            _words("error errors errored unable cannot canceled cancelled offline sending bad post"),
        ),
        _words("tool mcp schema key credentials git"),
    ),
    Combination(
        "a damaged body",
        CauseKind.TRANSIENT,
        (
            _words("decompression decompress gzip gunzip zlib zliberror brotli inflate deflate"),
            _words("error failed failure invalid corrupt corrupted fetching unexpected truncated incorrect"),
        ),
    ),
    Combination(
        "a time limit",
        CauseKind.TRANSIENT,
        (
            _words("deadline request response upstream provider api call server model"),
            _words("timeout timed elapsed expired"),
        ),
    ),
    Combination(
        "broken JSON",
        CauseKind.TRANSIENT,
        (
            _words("json sse chunk"),
            _words("incomplete unexpected unterminated truncated invalid parse parsing"),
        ),
        _words("schema body request tool arguments"),
    ),
    Combination(
        "a page instead of JSON",
        CauseKind.TRANSIENT,
        (_words("invalid unexpected"), _words("character token"), _words("looking beginning position")),
    ),
    Combination(
        "a fault of the service",
        CauseKind.TRANSIENT,
        (
            _words("service server provider backend internal upstream application"),
            _words("unexpected error condition failure fault problem exception"),
        ),
        _words("not allowed supported invalid unknown must"),
    ),
    Combination(
        "the sign-in",
        CauseKind.PERMANENT,
        (
            _words(
                "key keys credential credentials account permission permissions scope scopes login authentication authorization organization ip"
            ),
            _WRONG,
        ),
    ),
    Combination(
        "signing in",
        CauseKind.PERMANENT,
        (_words("sign log login"), _words("in required again"), _words("need needs must please required")),
    ),
    Combination(
        "a setting that is missing",
        CauseKind.PERMANENT,
        (
            _words("env environment variable variables var setting settings config configuration"),
            _words("requires required set missing not must setting unset undefined needs"),
        ),
        _words("timeout"),
    ),
    Combination(
        "an upgrade",
        CauseKind.PERMANENT,
        (_words("upgrade subscribe"), _words("plan account access subscription")),
    ),
    Combination(
        "an answer that did not come in time",
        CauseKind.TRANSIENT,
        (
            _words("not never didn failed without no"),
            _words("answer respond response reply responding answering replied responded answered"),
            _words("within after in time second seconds minute minutes ms yet"),
        ),
        _words("schema format tool tools parse valid"),
    ),
    Combination(
        "the model",
        CauseKind.PERMANENT,
        (
            _words("model models"),
            _words("unsupported unknown deprecated retired invalid found exist support not"),
        ),
    ),
    Combination(
        "the request",
        CauseKind.PERMANENT,
        (
            _words("parameter argument field type schema entity request format property header"),
            _words("invalid unsupported unknown missing malformed unprocessable required unexpected illegal"),
        ),
    ),
)
"""Sources: what the tables of wordings say again and again, whoever says it."""

_TOOLS = _words("tool tools agent agents function plugin hook file line test tests")

LAST_WORDS: tuple[Combination, ...] = (
    Combination(
        "an answer that did not come",
        CauseKind.TRANSIENT,
        (
            _words("no not never without none empty incomplete partial didn"),
            _words(
                "response responses reply chunk chunks bytes answer event events completion respond received returned"
            ),
        ),
        _TOOLS | _words("usage"),
    ),
    Combination(
        "what is not there",
        CauseKind.PERMANENT,
        (
            _words("not isn aren cannot doesn don never longer unable"),
            _words(
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
            _words(
                "deactivated disabled purchase upgrade unsupported suspended banned revoked forbidden prohibited "
                "unauthorized unauthorised credentials license licence insufficient incompatible misconfigured "
                "unrecognized unrecognised deprecated retired ineligible unsubscribed subscribe must verify "
                "verification terms outdated obsolete denied rejected refused invalid illegal malformed blocked "
                "removed flagged expired discontinued"
            ),
        ),
        _TOOLS | _words("connection"),
    ),
    Combination(
        "a passing trouble",
        CauseKind.TRANSIENT,
        (
            _words(
                "temporarily temporary momentarily hiccup glitch outage maintenance unresponsive stalled flaky "
                "disruption intermittent timeout disconnected unreachable overload saturated congested congestion "
                "transient eof premature prematurely busy idle broken_pipe timed stalling"
            ),
        ),
        _TOOLS,
    ),
    Combination(
        "much to do",
        CauseKind.TRANSIENT,
        (
            _words("high heavy elevated increased unusual peak"),
            _words("load traffic volume demand latency error errors"),
        ),
        _TOOLS,
    ),
    Combination(
        "what took too long",
        CauseKind.TRANSIENT,
        (_words("took takes taking waited"), _words("long longer")),
        _TOOLS,
    ),
    Combination(
        "what nobody expected",
        CauseKind.TRANSIENT,
        (_words("unexpected unexpectedly internal"), _words("error end response eof close closed exit stop")),
        _TOOLS,
    ),
    Combination(
        "a side that failed",
        CauseKind.TRANSIENT,
        (
            _words("our"),
            _words("side end servers systems backend"),
            _words("broke broken wrong failed issue problem error"),
        ),
        _TOOLS,
    ),
    Combination(
        "what was not reached",
        CauseKind.TRANSIENT,
        (
            _words("reach reached connect contact fetch"),
            _words("not couldn cannot can't unable failed failure"),
            _words(
                "model server provider service api internet network upstream host url request backend endpoint"
            ),
        ),
        _TOOLS | _words("limit max maximum"),
    ),
    Combination(
        "no JSON",
        CauseKind.TRANSIENT,
        (_words("html json sse"), _words("instead non unexpected end got returned received page incomplete")),
        _TOOLS | _words("schema body format response_format mode must"),
    ),
    Combination(
        "trouble of the service",
        CauseKind.TRANSIENT,
        (
            _words(
                "model provider server service llm upstream response stream engine backend inference gateway completion "
                "generation assistant endpoint"
            ),
            _words(
                "error errored failed failure problem issue trouble unable cannot couldn stopped halted lost slow stuck queue "
                "queued waiting hang hung broke broken down dead"
            ),
        ),
        _TOOLS
        | _words(
            "bad loop turn turns step steps iteration iterations parse parser parsing argument arguments retrying plugin "
            "lock pattern context percent"
        ),
    ),
)
"""Words that lean one way; asked where nothing else tells."""
