"""Names of fields and headers that hold a wait, as ``plain_name`` writes them."""

from __future__ import annotations

from typing import Literal, TypeAlias

WaitKind: TypeAlias = Literal["seconds", "milliseconds", "minutes", "hours", "instant", "either"]

RETRY_HEADERS: tuple[tuple[str, WaitKind], ...] = (
    ("retry-after-ms", "milliseconds"),  # Azure, OpenAI, Z.ai
    ("x-ms-retry-after-ms", "milliseconds"),  # Azure
    ("x-retry-after-ms", "milliseconds"),
    ("retry-after", "either"),  # RFC 9110: seconds or an HTTP date; some gateways send a duration or an epoch
    ("x-retry-after", "either"),
    ("x-ratelimit-retry-after", "either"),
    ("x-rate-limit-retry-after", "either"),
    ("x-ratelimit-retry-after-seconds", "seconds"),
    ("x-rate-limit-retry-after-seconds", "seconds"),
)
"""In order of precedence: only the first that can be read counts, since they say the same more or less exactly."""

WAIT_FIELDS: dict[str, WaitKind] = {
    **dict.fromkeys(
        (
            "retryafter",
            "retryaftersec",
            "retryaftersecs",
            "retryafterseconds",
            "retryaftersecond",
            "retryin",
            "retryinseconds",
            "retrydelay",
            "retrydelayseconds",
            "retryinfo",
            "resetsinseconds",
            "resetinseconds",
            "resetafter",
            "resetafterseconds",
            "resetin",
            "resetsin",
            "resetsafter",
            "resetsafterseconds",
            "secondsuntilreset",
            "timetoreset",
            "timeuntilreset",
            "timetoresetseconds",
            "cooldown",
            "cooldownseconds",
            "cooldowntime",
            "cooldownremaining",
            "waitseconds",
            "waittime",
            "waittimeseconds",
            "waitfor",
            "backoffseconds",
            "quotaresetdelay",
            "estimatedtime",
            "suggestedwait",
            "retrywait",
            "suggestedretryafter",
            "quotaresetseconds",
            "quotaresetin",
            "remainingseconds",
            "secondsremaining",
            "secondstowait",
            "minimumwait",
            "resetseconds",
            "availablein",
            "availableinseconds",
            "availableafter",
            "refreshin",
            "refreshesin",
            "renewsin",
            "unlocksin",
            "cooldownleft",
            "timeleft",
            "timeremaining",
            "waitremaining",
            "remainingtime",
            "ttlseconds",
        ),
        "seconds",
    ),
    **dict.fromkeys(
        (
            "retryafterms",
            "retryaftermillis",
            "retryaftermilliseconds",
            "retrydelayms",
            "retryinms",
            "resetinms",
            "resetsinms",
            "resetafterms",
            "waitms",
            "waittimems",
            "cooldownms",
            "timetoresetms",
            "backoffms",
        ),
        "milliseconds",
    ),
    **dict.fromkeys(
        (
            "resetsat",
            "resetat",
            "resettime",
            "resettimestamp",
            "resetsattimestamp",
            "quotaresettimestamp",
            "resetdate",
            "resetson",
            "resetdatetime",
            "nextreset",
            "nextresetat",
            "nextresettime",
            "nextresetdate",
            "retryat",
            "retryaftertime",
            "nextretryat",
            "availableat",
            "nextavailableat",
            "nextavailable",
            "tryagainat",
            "tryagainafter",
            "unlocksat",
            "unlockat",
            "unlocktime",
            "waituntil",
            "banneduntil",
            "suspendeduntil",
            "lockeduntil",
            "refreshat",
            "refreshesat",
            "renewat",
            "renewsat",
            "restoresat",
            "limitresettime",
            "limitresetat",
            "nextwindowat",
            "nextavailabletime",
            "blockeduntil",
            "unblockat",
            "unblockedat",
            "cooldownuntil",
            "limitedtill",
            "limiteduntil",
            "limitresetsat",
            "resettimeutc",
            "resetatutc",
            "quotaresetat",
            "quotaresetdate",
            "quotaresettime",
            "windowresetsat",
            "windowresetat",
            "resettimems",
            "resetatms",
            "resetepoch",
            "resetunix",
            "expiresatreset",
            "resumeat",
            "ratelimitresetsat",
            "ratelimitresetat",
        ),
        "instant",
    ),
    "limitreset": "either",
    "resettimeunix": "instant",
    "reset": "either",
    "resets": "either",
}
"""``either``: seconds if the number is small, an epoch if it is large, or whatever the text can be read as."""

CLIENT_FIELDS = frozenset({"retryattempt", "retrycount", "maxretries", "maxattempts", "attemptnumber"})
"""Fields in which a client writes how often it has tried."""
CLIENT_WAITS = frozenset(
    {"retryin", "retryinms", "retryinseconds", "retrydelayms", "waitms", "backoffms", "backoffseconds"}
)
"""Fields that hold, beside one of those, when the client itself tries again."""

WAIT_WORDS = frozenset(
    {"retry", "reset", "resets", "wait", "cooldown", "backoff", "available", "unlock", "refill", "renew"}
)
"""Words of which a field's name needs one, beside a unit, to hold a wait although no table lists it."""
UNIT_WORDS: dict[str, WaitKind] = {
    **dict.fromkeys(("ms", "millis", "milliseconds"), "milliseconds"),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), "seconds"),
    **dict.fromkeys(("mins", "minute", "minutes"), "minutes"),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), "hours"),
}
NO_WAIT_WORDS = frozenset(
    (
        "max maximum min limit window timeout total count attempt attempts interval elapsed used initial base default "
        "config period per ttl tool threshold multiplier jitter x ratelimit codex primary secondary anthropic tokens "
        "requests unified"
    ).split()
)
"""Words with which such a name is a setting, a time that has passed, or the reset of a bucket, which is read elsewhere."""

SENTINELS: tuple[tuple[str, str], ...] = (
    ("0, 1 or an instant before 2001 as a reset's epoch", "an unset value: no guidance"),
    ("-1 or any negative number", "unlimited or unknown: no guidance"),
    ("9999-12-31, 2147483647, or any epoch after 2099", "never: no guidance"),
    (
        "86400 as retry-after",
        "a whole day, sent for a spent daily quota; taken at its word, so it is a usage window",
    ),
    (
        "86400 after 'per', 'every'",
        "the length of a window (GitHub Models: 'Rate limit of 50 per 86400s'): no guidance",
    ),
    ("Expires: 1970-01-01, 'ma=86400' and the like in printed headers", "caching: never read"),
)
"""Values that providers send in place of a wait, and what is done with each; for the documentation."""

BUCKET_PREFIXES = ("xratelimit", "ratelimit", "anthropicratelimit", "xcodex", "xusagelimit")
"""Beginnings of the names of quota headers."""
WINDOW_PREFIXES = ("anthropicratelimitunified", "xcodex", "xusagelimit")
"""Of these those of a plan's window, which opens at its reset; a bucket is full at its reset, and lets one in before."""
BUCKET_ENDINGS = ("resetafterseconds", "resetseconds", "resetms", "resetat", "reset")
"""The part of such a name that makes it a reset; what stands there instead in the name of the remaining amount: below."""
EXHAUSTED_WHEN_ZERO = ("remaining",)
EXHAUSTED_WHEN_FULL = (("usedpercent", 100.0), ("utilization", 1.0))
EXHAUSTED_STATUSES = frozenset({"rejected", "exceeded", "blocked", "exhausted"})
"""Values of ``…-status`` (Anthropic's unified windows)."""
