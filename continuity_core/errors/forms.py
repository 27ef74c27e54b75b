"""What a text tells by its form, whatever its words."""

from __future__ import annotations

import re
from collections.abc import Iterable

from continuity_core.errors.tables.elsewhere import BARE_STOPS

_LOG_LINE = r"[^\w(]{0,4}\d{4}-\d\d-\d\d[t ][\d:.,z]{5,16} {1,2}(?:[a-z]{4,8} )?[\w.]{0,40} ?- "
_PREFIX = re.compile(
    rf"(?:{_LOG_LINE})?(?:[^\w(]{{0,4}}(?:ran into this error: ?"
    r"|(?:request |retry )?failed after \d{1,3} (?:attempts?|retries): ?"
    r"|(?:[\w.]{1,20} ){0,2}[\w.]{0,40}(?:error|exception|cancelled|canceled|failed)(?:: ?| - )"
    r"(?:\[[\w-]{1,20}\] ?)?)){0,3}[^\w(\[^]{0,4}"
)
"""What programs print before a message."""
_HEAD = re.compile(
    rf"(?:{_LOG_LINE})?(?:[^\w(]{{0,4}}(?:ran into this error|(?:(?:api|llm|agent|chat|model|request|call"
    r"|execution|unexpected|fatal) ){0,2}(?:error|exception|failed)): ?){0,3}"
)
"""What programs print before any error, without a word that tells of it."""
_BRACKETED = re.compile(
    r"(?:b['\"]|\[?(?:api |llm )?error[: ]{0,2}[\[(]?|\[|\()([^\[\]()]{1,80})[\])'\"]"
    r"\W{0,4}(?:retrying.{0,60})?"
)
_TAIL = re.compile(r"[ .]{0,3}(?:\(?request id:? ?[\w-]{4,64}\)?|(?:learn|read) more:?) ?$")
_CORE_LENGTH = 160
"""Characters of the longest text that can be a prefix and a bare message."""
_STOP_WORDS = ("abort", "cancel", "interrupt", "stopped", "sigint", "^c", "terminated")

_TOOL = (
    r"\b(?:tool|mcp|hook|command|bash|shell|terminal|subprocess|npm|pip|git|pytest|sandbox|subagent"
    r"|webfetch|browser|web[_ -]?search|web[_ -]fetch|grep|glob|docker|kubectl|eslint|tsc|cargo|playwright"
    r"|mcp__\w{1,60})\b(?!_)"
)
_TOOL_SPEAKS = re.compile(
    rf"(?:[^\w]{{0,4}}\b\w{{1,24}}+\b){{0,3}}?[^\w]{{0,4}}{_TOOL}[^.;!?]{{0,40}}?\b(?:error|failed|failure|timed"
    r"|timeout|returned|threw|exited|errored|result|err|fatal|rejected)\b"
    rf"|[^\w]{{0,4}}(?:error|failed|failure) (?:during|in|while|executing|running|calling|to (?:run|call))"
    rf" (?:\w{{1,24}}+ ){{0,2}}?{_TOOL}"
)
_MODEL_SPEAKS = re.compile(
    r"\b(?:model|tool_use|tool_choice|messages?|parameter|parse|schema|supported|validation|provider|litellm|llm|stream"
    r"|tokens|choice|arguments|generation|unknown|anthropic|openai|concurrency)\b"
)
_METHOD_FAILED = re.compile(
    r"[^\w]{0,4}(?!(?:api|client|openai|anthropic|gemini|litellm|bedrock)\.)[a-z]\w{1,30}"
    r"(?:\.(?!(?:com|net|org|io|ai|dev|chat|completions|responses|embeddings|models|internal|local|svc|lan)\b)[a-z]\w{1,30}){1,3}"
    r" (?:failed|error|errored|returned|timed out)\b"
)
"""``slack.message.post failed: …``: a tool by its dotted name."""
_FILE_SHOWN = re.compile(
    r"[^\w]{0,4}(?:read|edit|write|update|view|cat|open|grep|search|create)[ (:]{1,2}[`'\"]?[\w./~-]{1,200}"
    r"\.(?:py|js|ts|tsx|jsx|md|json|txt|rs|go|java|kt|rb|php|cs|c|h|cpp|yaml|yml|toml|log|sh|html|css|sql)\b"
)
"""``Read tests/limits.py: …``: what a tool shows of a file."""
_LEAD_LENGTH = 48
"""Characters of the beginning that tell who speaks."""

_FIELD_PATH = re.compile(
    r"(?:^|message\W{1,6}|[^\w ] )(?:\d{3} )?"
    r"((?:messages|tools|contents|input)[.\[][\w.\[\]]{1,80}"
    r"|(?:response_format|tool_choice|max_tokens|temperature|top_p|top_k|logprobs|metadata|thinking|stop|system|seed)"
    r"(?:[.\[][\w.\[\]]{1,80})?): "
)
_PERCENT_USED = re.compile(r"\b(\d{1,2})(?:\.\d{1,4})?% ?(?:used|of|,|·|\(|\||left|remaining)")
_RESET_SHOWN = re.compile(
    r"\b(?:your|my|the) (?:[\w-]{1,20} ){0,3}limits? (?:will )?(?:resets?|renews?|refresh(?:es)?)\b"
)
_QUESTION = re.compile(
    r"[^\w]{0,3}(?:my|i|we|is|does|do|did|when|why|what|how|can|could|should|am|are|will|which|where|who)\b[^.!?\n]{0,200}\?"
)
_LIMIT_HIT = (
    "reached",
    "exceeded",
    "hit your",
    "exhausted",
    "error",
    "failed",
    "out of",
    "rejected",
    "429",
    "blocked",
)
_NO_MORE = (
    "used",
    "no more",
    "wait",
    "again",
    "sorry",
    "upgrade",
    "until",
    "cannot",
    "can't",
    "limited",
    "hit the",
)


def without_head(text: str) -> str:
    """``text`` without what programs print before any error (``API Error: ``, a log's time and level)."""
    head = _HEAD.match(text)
    return text if head is None else text[head.end() :]


def core_of(text: str) -> str:
    """What a short flattened ``text`` says without prefixes, brackets and a full stop, or nothing."""
    if len(text) > _CORE_LENGTH:
        return ""
    bracketed = _BRACKETED.fullmatch(text)
    core = text if bracketed is None else bracketed.group(1)
    prefix = _PREFIX.match(core)
    return _TAIL.sub("", core[prefix.end() if prefix is not None else 0 :]).strip(" .!\"'")


def may_be_a_stop(text: str) -> bool:
    """Whether the text has a word that every bare stop has one of."""
    return any(map(text.__contains__, _STOP_WORDS))


def bare_stop(cores: Iterable[str]) -> str | None:
    """Of the messages that may be all that is told the one that is a bare stop (``request was aborted``)."""
    return next((core for core in cores if core in BARE_STOPS), None)


def a_tool_speaks(text: str) -> bool:
    """Whether the text begins with what a tool failed with; the rest quotes whatever the tool met."""
    if _METHOD_FAILED.match(text) is not None or _FILE_SHOWN.match(text) is not None:
        return True
    if _TOOL_SPEAKS.match(text) is None:
        return False
    return _MODEL_SPEAKS.search(text[:_LEAD_LENGTH]) is None


def field_complained_of(text: str) -> str | None:
    """A field of the request before what is wrong with it, as validators write: ``messages.3.content: …``."""
    field = _FIELD_PATH.search(text)
    return None if field is None else field.group(1)


def is_a_question(text: str) -> bool:
    """Whether the text is one question of a person (``does my usage limit reset at 3 pm?``)."""
    return text.endswith("?") and _QUESTION.fullmatch(text) is not None


def shows_usage(text: str) -> bool:
    """Whether the text shows how much of a limit is used or when it resets, and no sign of a failure."""
    if "%" in text and _PERCENT_USED.search(text) is not None:
        return not any(word in text for word in _LIMIT_HIT)
    if "limit" in text and _RESET_SHOWN.search(text) is not None:
        return not any(word in text for word in _LIMIT_HIT + _NO_MORE)
    return False
