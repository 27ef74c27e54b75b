"""What errors are about, by words that stand together in one sentence; asked where no known wording stands.

A row holds groups of words. It applies to a sentence that has at least one word of every group and none of those
that make it something else. Rows are in the order of evidence.
"""

from __future__ import annotations

from typing import NamedTuple

from continuity_core.errors.stems import stem
from continuity_core.model.cause import CauseKind


def words_of(text: str) -> frozenset[str]:
    """The stems of the words of ``text``, as sentences have them."""
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


_TOO_MUCH = words_of(
    "long longer large larger big exceed exceeds exceeded exceeding over above overflow beyond surpasses supports"
)
_REACHED = words_of(
    "reached exceeded exceed exceeds hit used exhausted consumed spent depleted no out over limited left cap capped none "
    "gone full"
)
_RATES = words_of(
    "minute minutes min second seconds rpm tpm qps rps rate throttled throttle throughput hour hourly day daily week "
    "weekly month monthly today quota plan subscription bucket tier pricing concurrency"
)
_RATES_OF_SECONDS = words_of(
    "minute minutes min second seconds rpm tpm rate throughput concurrent concurrency"
)
_WRONG = words_of(
    "invalid denied revoked locked insufficient missing expired unauthorized unauthorised wrong need needs must not "
    "disabled suspended blocked rejected incorrect bad lacks"
)

PLAIN_WORDS: tuple[Combination, ...] = (
    Combination(
        "a key that does not open",
        CauseKind.PERMANENT,
        (
            words_of("key keys apikey api_key credential credentials"),
            words_of(
                "api apikey api_key credential credentials access auth secret subscription openai anthropic provider "
                "account your"
            ),
            words_of(
                "missing invalid expired revoked incorrect unset wrong configured inactive deactivated unauthorized "
                "malformed empty blank unknown unrecognized"
            ),
        ),
        words_of("rate limit limited cooldown quota request metadata header parameter backed throttled"),
    ),
    Combination(
        "a key that is not set",
        CauseKind.PERMANENT,
        (
            words_of("api_key apikey access_token secret_key"),
            words_of("not no isn without"),
            words_of("set found provided defined configured given exported present"),
        ),
        words_of("rate limit limited cooldown quota parameter throttled"),
    ),
    Combination(
        "a token that does not open",
        CauseKind.PERMANENT,
        (
            words_of("token"),
            words_of("missing revoked unset configured inactive unauthorized blank"),
            words_of(
                "auth access bearer refresh login provider api session oauth authentication anthropic openai"
            ),
        ),
        words_of("rate limit count max_tokens tokens_left"),
    ),
    Combination(
        "a certificate",
        CauseKind.PERMANENT,
        (
            words_of("certificate cert"),
            words_of(
                "self signed issuer verify verified verification expired invalid untrusted chain trust unknown mismatch "
                "altname hostname"
            ),
        ),
    ),
    Combination(
        "a safety filter",
        CauseKind.PERMANENT,
        (
            words_of("prompt input output response content message request"),
            words_of("blocked flagged filtered prohibited refused tripped triggered intercepted"),
            words_of(
                "security safety policy policies moderation guardrail compliance violation harmful unsafe"
            ),
        ),
        words_of("proxy dns cors gateway connection firewall"),
    ),
    Combination(
        "a plan without it",
        CauseKind.PERMANENT,
        (
            words_of("plan tier subscription package membership license licence"),
            words_of(
                "support supported include included available allow allowed entitled access eligible offered use"
            ),
            words_of("not doesn isn cannot no without lacks requires required only need needs"),
        ),
        words_of(
            "limit limits quota reached exceeded used reset resets until refresh rate day month week hour requests messages"
        ),
    ),
    Combination(
        "a plan that is asked for",
        CauseKind.PERMANENT,
        (
            words_of("plan tier subscription membership license licence"),
            words_of("requires required needs need upgrade"),
            words_of("model models feature access requested enterprise pro team business paid endpoint"),
        ),
        words_of(
            "limit limits quota reached exceeded used reset resets until refresh rate day month week hour requests messages credits"
        ),
    ),
    Combination(
        "an account that is shut",
        CauseKind.PERMANENT,
        (
            words_of("account accounts organization organisation workspace team project user"),
            words_of(
                "suspended deactivated banned disabled terminated locked frozen closed restricted blocked"
            ),
        ),
        words_of("temporarily rate limit limited temporary until retry cooldown stream connection websocket"),
    ),
    Combination(
        "nothing left to spend",
        CauseKind.PERMANENT,
        (
            words_of("balance credit credits funds prepaid wallet budget"),
            words_of("no zero without"),
            words_of("left remaining more available cover pay"),
        ),
        words_of(
            "refresh reset resets renew context thinking tokens token daily weekly monthly today reasoning rate turn turns"
        ),
    ),
    Combination(
        "a cap on costs",
        CauseKind.PERMANENT,
        (
            words_of("cost costs charge charges spend spending"),
            words_of("limit cap budget ceiling"),
            words_of("reached exceeded exceeds hit over"),
        ),
        words_of("daily weekly monthly tokens"),
    ),
    Combination(
        "too little to spend",
        CauseKind.PERMANENT,
        (
            words_of("balance credit credits funds"),
            words_of("requires needs more not"),
            words_of("enough more sufficient additional"),
        ),
        words_of(
            "refresh reset resets renew context thinking tokens token daily weekly monthly today reasoning rate turn turns wait"
        ),
    ),
    Combination(
        "an empty purse",
        CauseKind.PERMANENT,
        (
            words_of(
                "balance credit credits funds prepaid wallet purse invoice payment spend spending budget"
            ),
            words_of(
                "insufficient exhausted depleted negative zero empty unpaid overdue declined ran run failed low cap reached "
                "exceeded exceeds limit cannot -"
            ),
        ),
        words_of(
            "refresh reset resets renew context token_budget thinking tokens retry daily weekly reasoning rate turn turns step steps iterations"
        ),
    ),
)
"""What ends a run whatever broke besides: asked before limits, faults and statuses."""

SPOKEN_WINDOW = Combination(
    "a window",
    CauseKind.USAGE_LIMIT,
    (
        words_of("daily weekly monthly today tomorrow hourly yearly session sessions"),
        words_of(
            "limit limits quota cap requests request credits usage messages tokens allotment allowance calls budget prompts"
        ),
        _REACHED | words_of("too many"),
    ),
    words_of("minute second concurrent"),
)
"""A limit of a day or more by its adjective, not as a rate (``per day``), which refills while it is used."""

NO_ROOM = Combination(
    "no room",
    CauseKind.TRANSIENT,
    (
        words_of("busy overloaded overload saturated capacity congested congestion"),
        words_of(
            "server servers service model engine capacity cluster gpu backend provider system temporarily currently"
        ),
    ),
    _RATES | words_of("request requests your account concurrent key may might maybe possibly perhaps"),
)
"""A service that is full says so under status 429, too; what a client guesses at (``may be``) does not count."""

OUTPUT_CAPS: tuple[Combination, ...] = (
    Combination(
        "the output was cut",
        CauseKind.LENGTH,
        (
            words_of("output response answer completion generation reply"),
            words_of("truncated cut"),
            words_of("token tokens length limit max maximum"),
        ),
    ),
    Combination(
        "the output cap",
        CauseKind.LENGTH,
        (
            words_of("output completion length"),
            words_of("token tokens length output max_tokens"),
            words_of("limit cap maximum max quota allowance"),
            words_of("reached exceeded hit exhausted"),
        ),
        (_RATES - words_of("quota")) | words_of("possibly request context input prompt string field"),
    ),
    Combination(
        "a cap by its name",
        CauseKind.LENGTH,
        (
            words_of("max_tokens max_output_tokens max_completion_tokens max_new_tokens output_tokens"),
            words_of(
                "reached reaching hit exhausted used truncated cut stopped ended incomplete finished reason"
            ),
        ),
        _RATES | words_of("exceed must invalid parameter supported requested context"),
    ),
    Combination(
        "a stop reason",
        CauseKind.LENGTH,
        (
            words_of("finish_reason stop_reason finishreason stopreason reason"),
            words_of("length max_tokens maxtokens max_output_tokens"),
        ),
        _RATES
        | words_of("exceed exceeded must invalid supported context prompt input request name content_length"),
    ),
    Combination(
        "a spent output",
        CauseKind.LENGTH,
        (
            words_of("output max_tokens max_output_tokens completion"),
            words_of("tokens budget allowance max_tokens"),
            words_of("consumed exhausted spent used"),
            words_of("all whole entire"),
        ),
        _RATES | words_of("prompt input context usage request"),
    ),
    Combination(
        "an answer that stopped at its length",
        CauseKind.LENGTH,
        (
            words_of("output response answer completion generation reply"),
            words_of("stopped ended truncated cut finished hit"),
            words_of("token tokens length max_tokens"),
            words_of("limit cap maximum max max_tokens long"),
        ),
        _RATES | words_of("prompt input context"),
    ),
)
"""An output that was cut at its cap; asked before limits, whose words it shares."""

THE_CONTEXT: tuple[Combination, ...] = (
    Combination(
        "the end of the context",
        CauseKind.CONTEXT_OVERFLOW,
        (
            words_of("context n_ctx ctx"),
            words_of("window limit length size budget"),
            words_of(
                "reached reaches hit full exceeded exceeds exceed exceeding exhausted overflow over overran"
            ),
        ),
        _RATES | words_of("output completion browser deadline canceled image possibly caching cache"),
    ),
)
"""A context that is full, whatever the program that tells it failed with; asked before limits and faults."""

COMBINATIONS: tuple[Combination, ...] = (
    Combination(
        "stopped by the user",
        CauseKind.CANCELLED,
        (
            words_of("user caller client you human operator keyboard esc"),
            words_of(
                "abort aborted cancel cancelled canceled stopped interrupted rejected declined dismissed denied pressed"
            ),
        ),
        words_of(
            "connection tool stream subscription plan account payment order key token access permission"
        ),
    ),
    Combination(
        "the context",
        CauseKind.CONTEXT_OVERFLOW,
        (
            words_of("context prompt input thread n_ctx ctx history conversation messages transcript"),
            _TOO_MUCH,
        ),
        _RATES | words_of("deadline canceled output image timeout batch"),
    ),
    Combination(
        "the number of tokens",
        CauseKind.CONTEXT_OVERFLOW,
        (
            words_of("tokens token"),
            words_of("exceed exceeds exceeded over above longer"),
            words_of("context length window model maximum max limit"),
        ),
        _RATES | words_of("output completion"),
    ),
    Combination(
        "more tokens than fit",
        CauseKind.CONTEXT_OVERFLOW,
        (
            words_of("tokens token"),
            words_of("requested requires needs provided given has sent"),
            words_of("context window n_ctx maximum"),
        ),
        _RATES | words_of("output completion"),
    ),
    Combination(
        "what does not fit",
        CauseKind.CONTEXT_OVERFLOW,
        (
            words_of("not cannot doesn won too"),
            words_of("fit fits"),
            words_of("prompt input tokens context conversation messages request history"),
        ),
        _RATES | words_of("output image file memory gpu"),
    ),
    Combination(
        "no room in the context",
        CauseKind.CONTEXT_OVERFLOW,
        (
            words_of("context window prompt n_ctx transcript"),
            words_of("out no full most only exhausted"),
            words_of("room space tokens token conversation history"),
        ),
        _RATES | words_of("output completion possibly"),
    ),
    Combination(
        "a prompt to be shortened",
        CauseKind.CONTEXT_OVERFLOW,
        (
            words_of("shorten shorter trim"),
            words_of("prompt input message messages conversation context history text"),
            words_of("token tokens model limit maximum long window"),
        ),
        _RATES | words_of("output completion image file name"),
    ),
    Combination(
        "the size of the request",
        CauseKind.CONTEXT_OVERFLOW,
        (
            words_of("payload body request entity content"),
            words_of("size length entity bytes kb mb"),
            _TOO_MUCH,
        ),
        _RATES | words_of("image file batch"),
    ),
    Combination(
        "a size that must be kept",
        CauseKind.CONTEXT_OVERFLOW,
        (
            words_of("input inputs prompt text context"),
            words_of("must should have has"),
            words_of("less fewer most"),
            words_of("tokens token"),
        ),
        _RATES | words_of("output completion max_tokens max_new_tokens image"),
    ),
    Combination(
        "a request that is too long",
        CauseKind.CONTEXT_OVERFLOW,
        (
            words_of("request requests prompt message messages input conversation payload body chat thread"),
            words_of("too"),
            words_of("long large big"),
        ),
        _RATES
        | words_of("image file name field url header title took take takes taking time timeout tool output"),
    ),
    Combination(
        "safety",
        CauseKind.PERMANENT,
        (
            words_of("content response prompt moderation safety policy output guardrail guardrails"),
            words_of(
                "blocked rejected violation violations violates unsafe harmful flagged filtered refused prohibited inappropriate"
            ),
        ),
    ),
    Combination(
        "an audit of the content",
        CauseKind.PERMANENT,
        (
            words_of("audit moderation review compliance"),
            words_of("content prompt input output response text message"),
            words_of("failed rejected denied not blocked"),
        ),
    ),
    Combination(
        "money",
        CauseKind.PERMANENT,
        (
            words_of("balance credit credits card payment billing funds invoice"),
            words_of(
                "insufficient exhausted declined limit low zero negative out reached failed required depleted empty unpaid overdue"
            ),
        ),
        words_of("weekly daily hourly"),
    ),
    Combination(
        "no plan",
        CauseKind.PERMANENT,
        (
            words_of("subscription license licence membership plan seat"),
            words_of("no not without isn doesn"),
            words_of("active found valid assigned associated have"),
        ),
        words_of("limit limits quota rate window reset resets usage model support"),
    ),
    Combination(
        "a plan that ended",
        CauseKind.PERMANENT,
        (
            words_of("subscription trial plan membership license licence package"),
            words_of("inactive expired ended over lapsed cancelled canceled terminated paused"),
        ),
        words_of("limit limits quota rate stream connection window reset resets token tokens"),
    ),
    Combination(
        "a window",
        CauseKind.USAGE_LIMIT,
        (
            words_of(
                "day daily week weekly month monthly today plan subscription session allotment allowance hourly"
            ),
            words_of(
                "limit limits quota cap requests request credits usage messages tokens allotment allowance"
            ),
            _REACHED,
        ),
        words_of("minute second concurrent rate throughput"),
    ),
    Combination(
        "a usage limit",
        CauseKind.USAGE_LIMIT,
        (
            words_of("usage"),
            words_of("limit limits quota cap allowance allotment allocation ceiling maximum"),
            words_of("reached exceeded exceeds hit exhausted used consumed spent over maxed depleted gone"),
        ),
        _RATES_OF_SECONDS,
    ),
    Combination(
        "free uses",
        CauseKind.USAGE_LIMIT,
        (
            words_of("free"),
            words_of(
                "usage uses messages requests queries generations responses prompts chats questions runs turns "
                "completions quota calls allotment allowance limit"
            ),
            words_of("used exhausted exceeded reached hit out more left gone spent consumed depleted ran"),
        ),
        _RATES_OF_SECONDS | words_of("trial not doesn available account accounts"),
    ),
    Combination(
        "a window, in other languages",
        CauseKind.USAGE_LIMIT,
        (
            words_of(
                "wöchentliches wöchentliche tägliches tägliche monatliches monatliche wochenkontingent "
                "tageskontingent hebdomadaire quotidien quotidienne mensuel mensuelle semanal diario diaria diário "
                "diária mensual mensal settimanale giornaliero giornaliera mensile недельный дневной месячный "
                "wekelijkse dagelijkse maandelijkse tygodniowy dzienny miesięczny haftalık günlük aylık"
            ),
            words_of(
                "kontingent limit quota límite limite cuota cota лимит квота limiet limitu kota kotası limiti "
                "kontingente budget allowance"
            ),
        ),
    ),
    Combination(
        "a throttle",
        CauseKind.RATE_LIMIT,
        (
            words_of("requests request rate rpm tpm qps rps throughput concurrency concurrent calls"),
            words_of(
                "limit limits limited limiter quota cap allowance ceiling exceeded exceeds throttled many maximum max"
            ),
        ),
        words_of(
            "body payload recursion turn turns retries retry tool tools steps step iterations context image images dimensions "
            "pixels file files schema"
        ),
    ),
    Combination(
        "a limit",
        CauseKind.RATE_LIMIT,
        (
            words_of("limit limits quota quotas cap allowance allotment"),
            words_of("reached exceeded hit used exhausted consumed spent depleted gone full"),
        ),
        words_of(
            "recursion turn turns retries retry tool tools steps step iterations context image images dimensions "
            "pixels file files schema time memory length size output token possibly window"
        ),
    ),
    Combination(
        "a limit",
        CauseKind.RATE_LIMIT,
        (
            words_of("quota quotas allowance allotment"),
            words_of("reached exceeded hit used exhausted consumed spent depleted gone"),
        ),
        words_of("turn turns retries tool tools steps image images file files possibly"),
    ),
    Combination(
        "no room",
        CauseKind.TRANSIENT,
        (
            words_of(
                "gpu gpus capacity workers worker replicas servers server model cluster backend engine provider service"
            ),
            words_of("unavailable busy overloaded down saturated full offline crashed restarting"),
        ),
    ),
    Combination(
        "a model that is coming up",
        CauseKind.TRANSIENT,
        (
            words_of(
                "model server engine weights backend deployment endpoint instance checkpoint runner replicas service"
            ),
            words_of(
                "loading starting warming initializing initialising booting deploying provisioning scaling waking"
            ),
        ),
        words_of("error failed not unsupported invalid tool mcp"),
    ),
    Combination(
        "a server that crashed",
        CauseKind.TRANSIENT,
        (
            words_of("worker workers runner engine backend container pod instance replica gpu"),
            words_of(
                "exited died killed crashed terminated stopped lost panicked evicted preempted restarted"
            ),
        ),
        words_of("tool tools mcp hook command test tests"),
    ),
    Combination(
        "a name that was not resolved",
        CauseKind.TRANSIENT,
        (
            words_of("lookup dns resolve resolver nameserver hostname"),
            words_of("misbehaving failed failure error timed host"),
        ),
        words_of("tool"),
    ),
    Combination(
        "no capacity",
        CauseKind.TRANSIENT,
        (
            words_of("no not insufficient"),
            words_of("available capacity"),
            words_of("gpu gpus capacity workers worker replicas servers instances"),
        ),
    ),
    Combination(
        "a broken connection",
        CauseKind.TRANSIENT,
        (
            words_of(
                "connection connect stream socket peer host upstream tls ssl dns network websocket response server sse chunk gateway proxy relay"
            ),
            words_of(
                "rejected reset closed close lost broken torn away gone vanished dropped drop aborted interrupted refused failed failure incomplete terminated timeout unexpectedly unreachable disconnected corrupt corrupted invalid malformed reading read"
            ),
        ),
    ),
    Combination(
        "an error of the connection",
        CauseKind.TRANSIENT,
        (
            words_of("connection connect stream socket network websocket tls internet rst_stream eof fetch"),
            words_of("error errors errored unable cannot canceled cancelled offline sending bad post"),
        ),
        words_of("tool mcp schema key credentials git"),
    ),
    Combination(
        "a damaged body",
        CauseKind.TRANSIENT,
        (
            words_of("decompression decompress gzip gunzip zlib zliberror brotli inflate deflate"),
            words_of(
                "error failed failure invalid corrupt corrupted fetching unexpected truncated incorrect"
            ),
        ),
    ),
    Combination(
        "a time limit",
        CauseKind.TRANSIENT,
        (
            words_of("deadline request response upstream provider api call server model"),
            words_of("timeout timed elapsed expired"),
        ),
    ),
    Combination(
        "broken JSON",
        CauseKind.TRANSIENT,
        (
            words_of("json sse chunk"),
            words_of("incomplete unexpected unterminated truncated invalid parse parsing"),
        ),
        words_of("schema body request tool arguments"),
    ),
    Combination(
        "a page instead of JSON",
        CauseKind.TRANSIENT,
        (words_of("invalid unexpected"), words_of("character token"), words_of("looking beginning position")),
    ),
    Combination(
        "a fault of the service",
        CauseKind.TRANSIENT,
        (
            words_of("service server provider backend internal upstream application"),
            words_of("unexpected error condition failure fault problem exception"),
        ),
        words_of("not allowed supported invalid unknown must"),
    ),
    Combination(
        "the sign-in",
        CauseKind.PERMANENT,
        (
            words_of(
                "key keys credential credentials account permission permissions scope scopes login authentication authorization organization ip"
            ),
            _WRONG,
        ),
    ),
    Combination(
        "signing in",
        CauseKind.PERMANENT,
        (
            words_of("sign log login"),
            words_of("in required again"),
            words_of("need needs must please required"),
        ),
    ),
    Combination(
        "a setting that is missing",
        CauseKind.PERMANENT,
        (
            words_of("env environment variable variables var setting settings config configuration"),
            words_of("requires required set missing not must setting unset undefined needs"),
        ),
        words_of("timeout"),
    ),
    Combination(
        "an upgrade",
        CauseKind.PERMANENT,
        (words_of("upgrade subscribe"), words_of("plan account access subscription")),
    ),
    Combination(
        "an answer that did not come in time",
        CauseKind.TRANSIENT,
        (
            words_of("not never didn failed without no"),
            words_of("answer respond response reply responding answering replied responded answered"),
            words_of("within after in time second seconds minute minutes ms yet"),
        ),
        words_of("schema format tool tools parse valid"),
    ),
    Combination(
        "the model",
        CauseKind.PERMANENT,
        (
            words_of("model models"),
            words_of("unsupported unknown deprecated retired invalid found exist support not"),
        ),
        words_of(
            "produced provide provided provides return returned respond responded generate generated output answer response "
            "reach reached could tried"
        ),
    ),
    Combination(
        "the request",
        CauseKind.PERMANENT,
        (
            words_of("parameter argument field type schema entity request format property header"),
            words_of(
                "invalid unsupported unknown missing malformed unprocessable required unexpected illegal"
            ),
        ),
    ),
)
"""Sources: what the tables of wordings say again and again, whoever says it."""

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
                "removed flagged expired discontinued refusal"
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
            words_of("allowed supported expected got exceeds most given"),
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
            words_of("role roles name names parameter value id ids"),
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
