"""What the words of a name tell, for codes, types and exceptions that no table lists.

A name is taken apart (``DAILY_QUOTA_EXCEEDED``, ``ModelBusyError``) and read as a sentence. The rows are in the
order of evidence. Sources: the lists of error codes of OpenAI, Azure, AWS, Google, Alibaba, Tencent, Volcengine and
new-api, which are built of the same few words.
"""

from __future__ import annotations

from continuity_core.errors.tables.words_together import Combination, words_of
from continuity_core.model.cause import CauseKind

_OVER = words_of(
    "exceeded exceed exceeds reached hit over overflow exhausted many fast too limit limited limits"
)
_BROKEN = words_of(
    "error errors failed failure fail closed close interrupted broken lost unreachable timeout unavailable aborted "
    "reset disconnected exception terminated down invalid bad empty incomplete"
)
_MISSING = words_of(
    "invalid expired revoked disabled missing banned suspended blocked locked inactive deactivated required incorrect "
    "wrong not no closed terminated unknown restricted denied"
)

NAME_WORDS: tuple[Combination, ...] = (
    Combination(
        "an output that was cut",
        CauseKind.LENGTH,
        (
            words_of("output response completion max"),
            words_of("truncated tokens token length"),
            words_of("truncated reached hit"),
        ),
    ),
    Combination(
        "what was cut",
        CauseKind.LENGTH,
        (words_of("truncated"),),
        words_of("stream json body connection archive input prompt context"),
    ),
    Combination(
        "what is too long",
        CauseKind.CONTEXT_OVERFLOW,
        (
            words_of("context prompt input tokens token"),
            words_of("long large overflow exceeded exceeds big limit"),
        ),
        words_of("rate minute quota per output invalid concurrency account balance day policy max_tokens"),
    ),
    Combination(
        "what is too large",
        CauseKind.CONTEXT_OVERFLOW,
        (words_of("request payload body entity message messages"), words_of("large long big")),
    ),
    Combination(
        "the sign-in",
        CauseKind.PERMANENT,
        (
            words_of(
                "auth authentication authorization unauthorized unauthenticated unauthorised credential credentials "
                "apikey login signin forbidden permission signature oauth"
            ),
        ),
        words_of("timeout unavailable"),
    ),
    Combination(
        "a key or an account",
        CauseKind.PERMANENT,
        (
            words_of(
                "key keys account user org organization session token subscription trial license licence access plan region country ip"
            ),
            _MISSING,
        ),
        words_of("limit rate quota stream available request concurrency concurrent"),
    ),
    Combination(
        "money",
        CauseKind.PERMANENT,
        (
            words_of(
                "billing payment balance arrears arrearage overdue credits credit funds unpaid spend spending budget "
                "prepaid wallet purchase"
            ),
        ),
        words_of("daily weekly monthly"),
    ),
    Combination(
        "safety",
        CauseKind.PERMANENT,
        (
            words_of(
                "moderation safety sensitive guardrail guardrails policy nsfw harmful prohibited inspection flagged unsafe "
                "risky refusal"
            ),
        ),
        words_of("rate limit quota unavailable timeout"),
    ),
    Combination(
        "blocked content",
        CauseKind.PERMANENT,
        (words_of("content prompt input output"), words_of("blocked filtered filter rejected violation")),
    ),
    Combination(
        "what is not there",
        CauseKind.PERMANENT,
        (
            words_of("not"),
            words_of("found supported allowed exist valid permitted enabled configured"),
        ),
        words_of("tool file"),
    ),
    Combination(
        "a window",
        CauseKind.USAGE_LIMIT,
        (words_of("daily weekly monthly plan subscription usage free tier day month week"), _OVER),
        words_of("request rate concurrency minute"),
    ),
    Combination(
        "a window of requests",
        CauseKind.USAGE_LIMIT,
        (words_of("daily weekly monthly"), words_of("request requests messages tokens"), _OVER),
    ),
    Combination(
        "a throttle",
        CauseKind.RATE_LIMIT,
        (
            words_of(
                "rate qps rpm tpm rps request requests concurrency concurrent quota frequency burst flow ratelimit calls"
            ),
            _OVER | words_of("control"),
        ),
    ),
    Combination(
        "a throttle by its name",
        CauseKind.RATE_LIMIT,
        (words_of("throttled throttling throttle ratelimited ratelimit cooldown quota"),),
    ),
    Combination(
        "an exhausted resource",
        CauseKind.RATE_LIMIT,
        (words_of("resource resources capacity_units"), words_of("exhausted")),
    ),
    Combination(
        "no room",
        CauseKind.TRANSIENT,
        (
            words_of(
                "busy overloaded overload capacity unavailable timeout temporarily temporary maintenance loading cold "
                "warming interrupted disconnected unreachable congested degraded crashed"
            ),
        ),
        words_of("tool mcp invalid unsupported"),
    ),
    Combination(
        "what broke",
        CauseKind.TRANSIENT,
        (
            words_of(
                "connection network stream upstream gateway proxy socket server internal channel backend transport"
            ),
            _BROKEN,
        ),
        words_of("tool mcp"),
    ),
    Combination(
        "no channel",
        CauseKind.TRANSIENT,
        (
            words_of("no not"),
            words_of("available healthy"),
            words_of("channel channels server servers worker workers backend provider providers"),
        ),
    ),
    Combination(
        "a wrong answer",
        CauseKind.TRANSIENT,
        (
            words_of("invalid malformed bad empty no incomplete missing unexpected"),
            words_of("response answer output completion choices chunk content"),
        ),
        words_of("format status code schema"),
    ),
    Combination(
        "a wrong request",
        CauseKind.PERMANENT,
        (words_of("invalid unsupported deprecated parameter param argument schema validation malformed"),),
        words_of("tool response grant_type output"),
    ),
    Combination(
        "a wrong form",
        CauseKind.PERMANENT,
        (words_of("bad wrong illegal"), words_of("format parameter parameters body argument arguments")),
        words_of("response tool"),
    ),
)
