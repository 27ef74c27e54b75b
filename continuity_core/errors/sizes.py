"""Comparing a request with the limit that the text tells beside it: what is larger never fits."""

from __future__ import annotations

import re

# Both begin with a choice between letters, neither with an edge of a word nor with a choice inside another:
# such patterns are searched several times faster.
_LIMIT = re.compile(
    r"(?:limit(?::| is| of)?|holds|allows|at most|quota(?::| is| of)|cap(?::| is| of)|length(?::| is| of)"
    r"|size(?::| is| of)|window(?::| is| of)) (\d[\d,]{0,15})"
)
_REQUESTED = re.compile(
    r"(?:requested:?|needs|requires|request (?:contains|has)(?= \d[\d,]{0,15} (?:input |prompt )?tokens))"
    r" (?:about |approximately |[~≈] ?)?(\d[\d,]{0,15})"
)
_LARGER = re.compile(
    r"\b(\d[\d,]{2,15})(?: [a-z]{3,12})? (?:is |are )?(?:larger|greater|more|bigger|higher) than "
    r"(?:the |your |its |a |our )?(?:limit of |maximum of )?(\d[\d,]{2,15})"
)
_LENGTHS = re.compile(
    r"max(?:imum)?[ _]?length:? (?:is |of )?(\d[\d,]{3,12})(?: characters)?, (?:but )?"
    r"(?:actual|got|given|received|was)(?: length)?:? (?:is |of )?(\d[\d,]{3,12})"
)
"""``expected maxLength: 42000, actual: 46735``; a length below 1000 is that of a name."""
_ARROW = re.compile(r"\b(\d[\d,]{2,11})\)?(?: tokens)? ?>=? ?(?:[a-z_]{1,16} ?)?\(?(\d[\d,]{2,11})")
"""``45012 > 32768``, as many write a number of tokens beside its limit."""

_SIZE = r"(\d[\d,]{3,12})"
_COMPARED = re.compile(
    rf"(?<![\w.,-]){_SIZE}\)?[^.;\d]{{0,60}}?(?:exceed|than |over |above|beyond|limit|max| but | while | vs"
    rf"|must be (?:less|at most|smaller|below|under)|<=|not fit|n't fit)[^;\d]{{0,60}}?(?<![\w.,-]){_SIZE}"
)
"""``prompt_tokens (40211) must be less than max_seq_len (32768)``."""
_GIVEN = re.compile(
    r"(?:at most|<=|less than|up to|maximum|limit|supports?|allows?|accepts?)[^;\d]{0,40}?"
    rf"(?<![\w.,-]){_SIZE}[^\d]{{0,60}}?(?:given|got|received|requested|sent|provided|contains|has|have|was|are|actual"
    rf"|resulted in|used)[^;\d]{{0,24}}?(?<![\w.,-]){_SIZE}"
)
"""``must have less than 4096 tokens. Given: 6021``."""
_OF_AN_INPUT = ("token", "context", "prompt", "input", "n_ctx")
_OF_SOMETHING_ELSE = (
    "output",
    "completion",
    "max_tokens",
    "max tokens",
    "image",
    "file",
    "rate",
    "per min",
    "per sec",
    "tpm",
    "quota",
    " day",
    "daily",
    "week",
    "month",
    "hour",
    "balance",
    "credit",
    "temperature",
    "parameter",
)


def larger_than_its_limit(text: str) -> tuple[int, int] | None:
    """What one request needs and the smaller limit that the lower-case ``text`` tells, or None."""
    if "max" in text and "length" in text:
        lengths = _LENGTHS.search(text)
        if lengths is not None:
            return _if_larger(lengths.group(2), lengths.group(1))
    if "request" not in text and "token" not in text:
        return None
    requested = _REQUESTED.search(text)
    limit = _LIMIT.search(text) if requested is not None else None
    if limit is not None and requested is not None:
        return _if_larger(requested.group(1), limit.group(1))
    if "request" in text and " than " in text and "used" not in text:
        larger = _LARGER.search(text)
        return None if larger is None else _if_larger(*larger.groups())
    return None


def more_tokens_than_fit(text: str) -> tuple[int, int] | None:
    """The size of an input and the smaller limit beside it, unless it is of the output or of a rate."""
    if not any(map(text.__contains__, _OF_AN_INPUT)) or any(map(text.__contains__, _OF_SOMETHING_ELSE)):
        return None
    numbers = _ARROW.search(text) if ">" in text else None
    if numbers is None:
        numbers = _COMPARED.search(text)
    if numbers is not None:
        return _if_larger(*numbers.groups())
    given = _GIVEN.search(text)
    return None if given is None else _if_larger(given.group(2), given.group(1))


def _if_larger(asked: str, allowed: str) -> tuple[int, int] | None:
    sizes = (int(asked.replace(",", "")), int(allowed.replace(",", "")))
    return sizes if sizes[0] > sizes[1] else None
