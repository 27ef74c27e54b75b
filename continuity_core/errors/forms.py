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
    r"(?:\[[\w-]{1,20}\] ?)?)){0,3}"
    r"(?:(?!stream|http|grpc|upstream|server|connection|transport|h2|rpc|socket|tool|command|timeout"
    r"|deadline)[\w.]{2,40}: )?"
    r"[^\w(\[^]{0,4}"
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
_STOP = re.compile(
    r"(?:(?!upstream|server|stream|connection|http|socket|network|tool|command|mcp|grpc)[a-z-]{1,16} ){0,3}"
    r"(?:request|operation|generation|task|run|turn|call|prompt|session|agent|job|workflow|message|chat|completion)"
    r" (?:(?:was|has been|is|got) )?(?:aborted|cancelled|canceled|interrupted|stopped)"
)
"""``summary request was aborted``."""
_STOP_WORDS = ("abort", "cancel", "interrupt", "stopped", "sigint", "^c", "terminated")

_FIELD_PATH = re.compile(
    r"(?:^|message\W{1,6}|[^\w ] )(?:\d{3} )?"
    r"((?:messages|tools|contents|input)[.\[][\w.\[\]]{1,80}"
    r"|(?:response_format|tool_choice|max_tokens|temperature|top_p|top_k|logprobs|metadata|thinking|stop|system|seed)"
    r"(?:[.\[][\w.\[\]]{1,80})?): "
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
    return _TAIL.sub("", core[prefix.end() if prefix is not None else 0 :]).strip(" .!\"'*<>`~-")


def may_be_a_stop(text: str) -> bool:
    """Whether the text has a word that every bare stop has one of."""
    return any(map(text.__contains__, _STOP_WORDS))


def bare_stop(cores: Iterable[str]) -> str | None:
    """Of the messages that may be all that is told the one that is a bare stop (``request was aborted``)."""
    return next((core for core in cores if core in BARE_STOPS or _STOP.fullmatch(core) is not None), None)


def field_complained_of(text: str) -> str | None:
    """A field of the request before what is wrong with it, as validators write: ``messages.3.content: …``."""
    field = _FIELD_PATH.search(text)
    return None if field is None else field.group(1)
