"""What a text tells by its form, whatever its words."""

from __future__ import annotations

import re

from continuity_core.errors.tables.elsewhere import BARE_STOPS

_PREFIXES = re.compile(
    r"(?:(?:[\w.]{1,20} ){0,2}[\w.]{0,40}(?:error|exception|cancelled|canceled|failed): ?"
    r"(?:\[[\w-]{1,20}\] ?)?){1,3}"
)
"""What programs print before a message."""
_BARE_LENGTH = 160
"""Characters of the longest text that can be a prefix and a bare stop."""
_LAST_WORDS_OF_STOPS = tuple({stop.rpartition(" ")[2] for stop in BARE_STOPS})

_FIELD_PATH = re.compile(
    r"(?:^(?:\d{3} )?|message\W{1,6})"
    r"((?:messages|tools|contents|input)[.\[][\w.\[\]]{1,80}"
    r"|(?:response_format|tool_choice|max_tokens|temperature|top_p|top_k|logprobs|metadata|thinking|stop|system|seed)"
    r"(?:[.\[][\w.\[\]]{1,80})?): "
)
_PERCENT_USED = re.compile(r"\b(\d{1,2})(?:\.\d{1,4})?% ?(?:used|of|,|·|\(|\||left|remaining)")
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


def bare_stop(text: str) -> str | None:
    """The stop of a text that says nothing else (``Error: Request was aborted.``)."""
    if len(text) > _BARE_LENGTH or not text.rstrip(" .!").endswith(_LAST_WORDS_OF_STOPS):
        return None
    prefix = _PREFIXES.match(text)
    bare = text[prefix.end() if prefix is not None else 0 :].rstrip(" .!")
    return bare if bare in BARE_STOPS else None


def field_complained_of(text: str) -> str | None:
    """A field of the request before what is wrong with it, as validators write: ``messages.3.content: …``."""
    field = _FIELD_PATH.search(text)
    return None if field is None else field.group(1)


def shows_usage(text: str) -> bool:
    """Whether the text shows how much of a limit is used, and no sign of a failure."""
    if "%" not in text or _PERCENT_USED.search(text) is None:
        return False
    return not any(word in text for word in _LIMIT_HIT)
