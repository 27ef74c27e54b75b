"""What words that stand together tell before limits, faults and statuses are asked for."""

from __future__ import annotations

from continuity_core.errors.tables.words_together import (
    RATES,
    REACHED,
    Combination,
    words_of,
)
from continuity_core.model.cause import CauseKind

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
            "refresh reset resets renew context thinking tokens token daily weekly monthly month week day today reasoning rate turn turns"
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
        REACHED | words_of("too many"),
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
    RATES | words_of("request requests your account concurrent key may might maybe possibly perhaps"),
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
        (RATES - words_of("quota")) | words_of("possibly request context input prompt string field"),
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
        RATES | words_of("exceed must invalid parameter supported requested context"),
    ),
    Combination(
        "a stop at the cap",
        CauseKind.LENGTH,
        (words_of("stopped ended finished"), words_of("max maximum"), words_of("tokens token")),
        RATES | words_of("prompt input context request"),
    ),
    Combination(
        "a stop reason",
        CauseKind.LENGTH,
        (
            words_of("finish_reason stop_reason finishreason stopreason reason"),
            words_of("length max_tokens maxtokens max_output_tokens"),
        ),
        RATES
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
        RATES | words_of("prompt input context usage request"),
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
        RATES | words_of("prompt input context"),
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
                "reached reaches hit full exceeded exceeds exceed exceeding many exhausted overflow over overran"
            ),
        ),
        RATES | words_of("output completion browser deadline canceled image possibly caching cache"),
    ),
)
"""A context that is full, whatever the program that tells it failed with; asked before limits and faults."""
