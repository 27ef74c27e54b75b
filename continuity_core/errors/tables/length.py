"""How an output cap looks when it is reported as an error."""

from __future__ import annotations

from continuity_core.errors.matching import said

LENGTH = (
    *said("Claude Code", "output token maximum"),
    *said(
        "OpenAI",
        "max_tokens or model output limit was reached",
        "length limit was reached",
        "reason: max_output_tokens",
        "lengthfinishreasonerror",
    ),
    *said(
        "pydantic-ai", "token limit * exceeded before any response", "token limit * exceeded while generating"
    ),
    *said("aider", "exceeded output limit", unless=("exhausted context window",)),
    *said("GitHub Copilot", "hit the length limit"),
    *said(
        "VS Code",
        *(
            f"{answer}{between}too long"
            for answer in ("response", "output", "answer", "reply", "completion")
            for between in (" ", " is ", " was ", " got ")
        ),
        unless=("tool", "header", "url", "wait"),
    ),
    *said(
        "Gemini, by the number of the reason",
        "finish_reason is 2",
        "finish_reason: 2",
        "finish_reason=2",
    ),
    *said(
        "Gemini", "maximum number of tokens as specified", "stopped due to token limit", "stopped due to max"
    ),
    *said(
        "Strands", "maxtokensreachedexception", "due to max_tokens limit", "maximum token generation limit"
    ),
    *said("instructor", "incompleteoutputexception", "max_tokens length limit"),
    *said(
        "models themselves",
        "ran out of tokens before",
        "ran out of output tokens",
        "ran out of tokens while",
    ),
    *said(
        "stop reasons in prose",
        "stop_reason: max_tokens",
        "stop_reason=max_tokens",
        "stop reason: max_tokens",
        "stopreason: max_tokens",
        "stop reason: length",
        "stopreason: length",
        "finish_reason: length",
        "finish_reason=length",
        "finish reason: length",
        "finishreason: length",
        "finishreason: max_tokens",
        "finish_reason: max_tokens",
        "finish reason: max_tokens",
        "finish_reason 'length'",
        "finish reason 'length'",
        "finish_reason='length'",
        "finish_reason: 'length'",
        'finish_reason "length"',
        "finish reason length",
        'reason "length"',
        "reason 'length'",
        'reason "max_tokens"',
        "reason 'max_tokens'",
        "reason max_tokens",
        "reason: length",
        "reason=length",
        "^max_tokens$",
        "^max_output_tokens$",
        "^length$",
        *(
            f"{stopped}{between}{reason}"
            for stopped in ("incomplete", "truncated", "stopped", "finished", "ended", "cut off")
            for between in (": ", " (", " by ", " due to ", " because of ")
            for reason in ("length>", "max_tokens", "max_output_tokens", "max tokens")
        ),
    ),
    *said(
        "many",
        "output was truncated",
        "output truncated",
        "response was truncated",
        "response truncated",
        "completion was truncated",
        "truncated due to max",
        "truncated because it",
        "truncated by the output",
        "cut off because * token",
        "cut off due to * token",
        "cut off by max_tokens",
        "maximum output length",
        "maximum output token",
        "max output token",
        "output token limit",
        "output limit reached",
        "output limit was reached",
        "exceeded the maximum output",
        "reached the maximum output",
        "incomplete*max_output_tokens",
        "stopped*max_output_tokens",
        "stopped*max_tokens",
        "incomplete*max_tokens",
        "hit its output",
        "its output limit",
        "the output limit",
        "output cap",
        "truncated at * tokens",
        "reached*output limit",
        "hit the output",
        "reached max_tokens",
        "reached max tokens",
        "hit max_tokens",
        "hit max tokens",
        "hit the max_tokens",
        "reached the max_tokens",
        "reached maximum token",
        "reached its maximum token",
        "reached the maximum number of tokens",
        "reaching the maximum number of tokens",
        "reaching max tokens",
        "max_tokens was reached",
        "max_tokens reached",
        "max_tokens limit reached",
        "output_tokens * reached",
        unless=(
            "context window",
            "context length",
            "per minute",
            "rate limit",
            "too large",
            "must be",
            "maximum allowed",
            "at most",
            "invalid",
            "not supported",
        ),
    ),
    *said(
        "Chinese and Japanese agents",
        "输出*被截断",
        "输出被截断",
        "回复被截断",
        "内容被截断",
        "达到最大输出",
        "输出长度达到",
        "出力が切り捨て",
        "最大出力トークン",
    ),
)
"""The output was cut at the cap."""

STOPPED_BY_LENGTH = frozenset(
    {
        "length",
        "maxtokens",
        "maxoutputtokens",
        "maxlength",
        "tokenlimit",
        "modellength",
        "maxnewtokens",
        "maxcompletiontokens",
    }
)
"""Values of a stop reason's field, as ``plain_name`` writes them."""
STOPPED_BY_POLICY = frozenset(
    {
        "contentfilter",
        "contentfiltered",
        "safety",
        "recitation",
        "blocklist",
        "prohibitedcontent",
        "spii",
        "imagesafety",
        "language",
        "refusal",
        "guardrailintervened",
        "sensitive",
        "moderation",
        "errortoxic",
        "imageprohibitedcontent",
        "imagerecitation",
    }
)
STOPPED_BY_CONTEXT = frozenset(
    {"modelcontextwindowexceeded", "contextwindowexceeded", "contextlengthexceeded"}
)
STOPPED_BY_FAULT = frozenset(
    {
        "malformedfunctioncall",
        "networkerror",
        "unexpectedtoolcall",
        "insufficientsystemresource",
        "upstreamerror",
    }
)
"""``insufficient_system_resource``: DeepSeek; ``network_error``: Z.ai; ``MALFORMED_FUNCTION_CALL``: Gemini."""
STOP_FIELDS = frozenset({"stopreason", "finishreason", "nativefinishreason", "donereason", "blockreason"})
"""Names of fields that hold a stop reason. ``incomplete_details.reason`` is read where ``response.incomplete`` stands."""
