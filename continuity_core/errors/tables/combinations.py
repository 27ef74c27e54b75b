"""What errors are about, by words that stand together in one sentence; asked where no known wording stands.

Rows are in the order of evidence.
"""

from __future__ import annotations

from continuity_core.errors.tables.words_together import (
    RATES,
    RATES_OF_SECONDS,
    REACHED,
    TOO_MUCH,
    Combination,
    words_of,
)
from continuity_core.model.cause import CauseKind

_WRONG = words_of(
    "invalid denied revoked locked insufficient missing expired unauthorized unauthorised wrong need needs must not "
    "disabled suspended blocked rejected incorrect bad lacks"
)

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
            TOO_MUCH,
        ),
        RATES | words_of("deadline canceled output image timeout batch"),
    ),
    Combination(
        "the number of tokens",
        CauseKind.CONTEXT_OVERFLOW,
        (
            words_of("tokens token"),
            words_of("exceed exceeds exceeded over above longer more greater larger"),
            words_of("context length window model maximum max limit"),
        ),
        RATES | words_of("output completion"),
    ),
    Combination(
        "more tokens than fit",
        CauseKind.CONTEXT_OVERFLOW,
        (
            words_of("tokens token"),
            words_of("requested requires needs provided given has sent"),
            words_of("context window n_ctx maximum"),
        ),
        RATES | words_of("output completion"),
    ),
    Combination(
        "too much text",
        CauseKind.CONTEXT_OVERFLOW,
        (words_of("too"), words_of("much"), words_of("text input content tokens context")),
        RATES,
    ),
    Combination(
        "a full context",
        CauseKind.CONTEXT_OVERFLOW,
        (words_of("context"), words_of("full exhausted")),
        RATES | words_of("output browser possibly"),
    ),
    Combination(
        "what does not fit",
        CauseKind.CONTEXT_OVERFLOW,
        (
            words_of("not cannot doesn don didn won too"),
            words_of("fit fits"),
            words_of("prompt input tokens context conversation messages request history"),
        ),
        RATES | words_of("output image file memory gpu"),
    ),
    Combination(
        "no room in the context",
        CauseKind.CONTEXT_OVERFLOW,
        (
            words_of("context window prompt n_ctx transcript"),
            words_of("out no full most only exhausted"),
            words_of("room space tokens token conversation history"),
        ),
        RATES | words_of("output completion possibly"),
    ),
    Combination(
        "a prompt to be shortened",
        CauseKind.CONTEXT_OVERFLOW,
        (
            words_of("shorten shorter trim"),
            words_of("prompt input message messages conversation context history text"),
            words_of("token tokens model limit maximum long window"),
        ),
        RATES | words_of("output completion image file name"),
    ),
    Combination(
        "the size of the request",
        CauseKind.CONTEXT_OVERFLOW,
        (
            words_of("payload body request entity content"),
            words_of("size length entity bytes kb mb"),
            TOO_MUCH,
        ),
        RATES | words_of("image file batch"),
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
        RATES | words_of("output completion max_tokens max_new_tokens image"),
    ),
    Combination(
        "a request that is too long",
        CauseKind.CONTEXT_OVERFLOW,
        (
            words_of("request requests prompt message messages input conversation payload body chat thread"),
            words_of("too"),
            words_of("long large big"),
        ),
        RATES
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
            REACHED,
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
        RATES_OF_SECONDS,
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
        RATES_OF_SECONDS | words_of("trial not doesn available account accounts"),
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
        "the last of a window",
        CauseKind.USAGE_LIMIT,
        (
            words_of("out ran run last used spent cap"),
            words_of("today daily week weekly month monthly day"),
            words_of(
                "answers messages message generations questions chats images credits prompts uses requests queries cap"
            ),
        ),
        RATES_OF_SECONDS | words_of("tool error"),
    ),
    Combination(
        "none left in a window",
        CauseKind.USAGE_LIMIT,
        (
            words_of("no zero none out"),
            words_of("generations credits messages requests uses prompts questions queries"),
            words_of("left remaining more"),
            words_of("month week day today"),
        ),
        RATES_OF_SECONDS,
    ),
    Combination(
        "a rate that is allowed",
        CauseKind.RATE_LIMIT,
        (
            words_of("per every each"),
            words_of("second seconds minute minutes"),
            words_of("only allowed allow limit max maximum most"),
        ),
        words_of("tool timeout stream"),
    ),
    Combination(
        "requests that come too fast",
        CauseKind.RATE_LIMIT,
        (
            words_of("requests request calls messages"),
            words_of("paused slowed space fewer slower often"),
        ),
        words_of("tool stream context long tokens token images disk device left"),
    ),
    Combination(
        "a throttle",
        CauseKind.RATE_LIMIT,
        (
            words_of("requests request rate rpm tpm qps rps throughput concurrency concurrent calls"),
            words_of(
                "limit limits limited quota cap allowance ceiling exceeded exceeds throttled many maximum max"
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
        words_of("tool tools mcp hook command test tests step steps"),
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
        "a model that is not for this account",
        CauseKind.PERMANENT,
        (
            words_of("model models"),
            words_of("not isn aren cannot"),
            words_of("available enabled allowed"),
            words_of("account plan key region organization workspace project subscription"),
        ),
        words_of("currently temporarily moment"),
    ),
    Combination(
        "a model that cannot take it",
        CauseKind.PERMANENT,
        (
            words_of("model models"),
            words_of("not cannot can doesn"),
            words_of("read accept accepts see process handle view"),
            words_of("image images audio files pdf video tools attachments"),
        ),
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
            "reach reached could tried ready yet"
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
        words_of("response"),
    ),
)
"""Sources: what the tables of wordings say again and again, whoever says it."""

LIMITS = tuple(row for row in COMBINATIONS if row.name in {"a window", "a throttle", "a limit"})
"""The rows that speak of a limit."""
