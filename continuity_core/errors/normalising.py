"""Making error text comparable: escapes, control sequences, markup and line wraps are taken out."""

from __future__ import annotations

import re
import unicodedata

# Every pattern here is a single character class, or bounded, so that the time is linear in the text.
_ANSI = re.compile(r"\x1b(?:\[[0-?]{0,32}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,256}(?:\x07|\x1b\\)?|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060\ufeff]")
_BOX = re.compile(r"[\u2139\u23bf\u24b6-\u24e9\u2500-\u257f]")
"""Lines of boxes, and letters in circles that terminals show before a message."""
_TAG = re.compile(r"<[a-z/!][^<>]{0,2048}>", re.IGNORECASE)
_INVISIBLE_ELEMENT = re.compile(r"<(script|style)\b", re.IGNORECASE)
_URL = re.compile(r"\b(?:https?|wss?)(?:://|%3a%2f%2f)[^\s\"'<>()\[\]{}\\,;]{1,2048}", re.IGNORECASE)
_PRIVATE = (".internal", ".local", ".lan", ".corp", ".svc", ".invalid", ".example")
_PRIVATE_HOST = re.compile(
    r"(?<![\w.-])(?:[\w-]{1,63}\.){1,6}"
    r"(?:internal|local|lan|corp|svc|invalid|example(?:\.(?:com|net|org))?)\b(?::\d{1,5})?",
    re.IGNORECASE,
)
"""A host of a private network, whose name (``rate-limit-service.internal``) says nothing of the error."""
_ESCAPED_SPACE = re.compile(r"\\{1,8}[nrt]")
_ESCAPED_QUOTE = re.compile(r"\\{1,8}(?=[\"'/])")
_ESCAPED_CHARACTER = re.compile(r"\\{1,8}u([0-9a-fA-F]{4})")
_DENIAL = re.compile(
    r"\bnot (?:(?:your|a|an|the|due to|because of|caused by|related to) ){0,2}"
    r"(?:usage|rate|quota|account|billing|plan|credit|context)[- ](?:limits?|quota|issue|problem|error)\b"
)
_ADVICE = re.compile(
    r"[ .]{0,3}please (?:retry if you think this is a transient or recoverable error"
    r"|resend your message to try again)\.?(?: context: [●○]{1,40} \d{1,3}% \(\d{1,9}/\d{1,9} tokens\))?"
    r"|(?: |body_excerpt: ?)payload_summary: \{[^{}]{0,400}\}"
    r"|[⏵▶]{1,2} ?[a-z ]{1,40}\(shift\+tab to cycle\)"
)
_CHOICE = r"[^.!?,]{1,100},[^.!?]{1,200} or [^.!?]{1,160}"
_GUESS = re.compile(
    r"\b(?:this|it|which) (?:usually|often|may|might|could) (?:(?:indicate|mean|happen)s?(?: when| if)?"
    rf"|be (?:due to|caused by|because of|a result of)|have been caused by) {_CHOICE}[.!?]?"
    r"|\b(?:prompt|model|request|response|server|service|api|account|key|content) (?:may|might|could)"
    r" (?:have (?:been )?|be )[^.!?]{1,100} or [^.!?]{1,160}[.!?]?"
    rf"|\b(?:possible|common|likely) (?:causes?|reasons?)(?: include| are)?:? {_CHOICE}"
)
"""Several causes that a program can think of, of which none is told to be the one."""
_CONDITION = re.compile(
    r"\bif (?:the |your |you see |you get )?(?:a |an )?(?:http |error )?(?:status|code|error)[^.!?]{0,32}"
    r"\b[45]\d\d\b[^.!?]{0,200}[.!?]?"
)
_CONDITIONS = ("if the ", "if you", "if a", "if http", "if status", "if error", "if code")
_GUESSING = (" may ", " might ", " could ", "usually ", "often ", "possible ", "common ", "likely ")
_FRAME_START = re.compile(r"[ \t]{1,8}at [^\n(/]{0,200}[(/]")
_FRAME_END = re.compile(r":\d{1,7}(?::\d{1,7})?\)?(?: ~?\[[^\]\n]{1,160}\])?\r?$")
_PYTHON_FRAME = re.compile(
    r"Traceback \(most recent call last\):"
    r"|\n {1,4}File \"[^\"\n]{1,300}\", line \d{1,7}, in [^\n]{1,100}(?:\n {3,8}[^\n]{0,300}){0,2}"
)
_WIDE_BLANK = re.compile(r"(?<=\d) (?=[\u3040-\u30ff\u4e00-\u9fff])")
_LONG_REFERENCE = re.compile(r"&#[xX]?[0-9a-fA-F]{9,}")
"""No character has so large a number."""
_RUN = 256
"""Characters that are normalised at once: combining marks take time with the square of their number."""
_ECHO = re.compile(r"[\"'](?:failed_generation|flagged_input|input)[\"']\s{0,4}:\s{0,4}(?=[\"'{\[])")
"""Fields in which a provider or a validator gives back what the model or the user wrote."""
_ECHO_TOKEN = re.compile(r"\"(?:[^\"\\]|\\.)*+(?:\"|\Z)|'(?:[^'\\]|\\.)*+(?:'|\Z)|[\[\]{}]", re.DOTALL)
_ENTITIES = ("&quot;", "&#39;", "&#x27;", "&#34;", "&amp;", "&lt;", "&gt;", "&nbsp;")
_ESCAPED_ESCAPE = re.compile(r"\\{1,8}(?:x1b|u001b|033|e)(?=\[)", re.IGNORECASE)
_WRAP = re.compile(r"[ \t]*\r?\n[ \t]*|[ \t]{3,}")
_WRAPPED_WORD = re.compile(r"[^\s\"'(),;<>\[\]{}](?:[ \t]*+\r?\n|[ \t]{3})\s*+[^\s\"'(),;<>\[\]{}]")

_PLAIN = str.maketrans(
    {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u00a0": " ", "\u2236": ":"}
)


def clean(text: str) -> str:
    """``text`` without escape sequences, control characters and markup; line breaks and case are kept."""
    if "&" in text and any(entity in text for entity in _ENTITIES):
        from html import unescape as without_entities  # brings a table of two thousand; few texts have any

        text = without_entities(_LONG_REFERENCE.sub(" ", text))
    if "\\" in text:
        text = _ESCAPED_ESCAPE.sub("\x1b", text)
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if "\n" in text:
        text = _without_frames(text)
    if not text.isprintable():
        text = _CONTROL.sub("", text)
    if not text.isascii():
        text = _BOX.sub(" ", text)
        runs = (text[start : start + _RUN] for start in range(0, len(text), _RUN))
        text = "".join([unicodedata.normalize("NFKC", run) for run in runs]).translate(_PLAIN)
    if "<" in text and ">" in text and _is_markup(text):
        text = _without_markup(text)
    return text


def _without_frames(text: str) -> str:
    """``text`` without the lines of a stack, whose names say nothing of the error."""
    if " at " in text or "\tat " in text:
        first, *lines = text.split("\n")
        text = "\n".join([first, *(line for line in lines if not _is_frame(line))])
    return _PYTHON_FRAME.sub("", text) if "Traceback (most" in text else text


def _is_frame(line: str) -> bool:
    return _FRAME_START.match(line) is not None and _FRAME_END.search(line) is not None


def without_echoes(text: str) -> str:
    """``text`` without what the model or the user wrote and a provider or a validator gives back."""
    if "input_value=" in text:
        text = _without_input_values(text)
    if "input" not in text and "failed_generation" not in text:
        return text
    kept: list[str] = []
    position = 0
    while (echo := _ECHO.search(text, position)) is not None:
        kept.append(text[position : echo.end()])
        kept.append("null")
        position = _end_of_value(text, echo.end())
    return "".join(kept) + text[position:] if kept else text


def _end_of_value(text: str, start: int) -> int:
    """Where the string, object or list at ``start`` ends, in JSON or Python's repr; if cut, at the end."""
    depth = 0
    for token in _ECHO_TOKEN.finditer(text, start):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token.group(), 0)
        if depth <= 0:
            return token.end()
    return len(text)


def _without_input_values(text: str) -> str:
    """``text`` without the values that pydantic shows (``input_value='...', input_type=str``)."""
    first, *others = text.split("input_value=")
    return "".join([first, *(", input_type=" + one.partition(", input_type=")[2] for one in others)])


def unescape(text: str) -> str:
    """``text`` with the escapes of JSON strings and byte literals resolved, however deeply nested."""
    if "\\" not in text:
        return text
    text = _ESCAPED_CHARACTER.sub(lambda match: chr(int(match.group(1), 16)), text)
    text = _ESCAPED_SPACE.sub(" ", text)
    return _ESCAPED_QUOTE.sub("", text)


def without_urls(text: str) -> str:
    """``text`` without web addresses, whose words (``quotas``, ``429``) say nothing of the error."""
    if "://" in text or "%3a%2f%2f" in text:
        text = _URL.sub(" ", text)
    return _PRIVATE_HOST.sub(" ", text) if any(map(text.__contains__, _PRIVATE)) else text


def without_denials(text: str) -> str:
    """Flattened ``text`` without what it says not to be the reason (``not your usage limit``)."""
    return _DENIAL.sub(" ", text) if "not " in text else text


def without_conditions(text: str) -> str:
    """Flattened ``text`` without its advice for another status (``if the status is 404, …``)."""
    return _CONDITION.sub(" ", text) if "if " in text and any(map(text.__contains__, _CONDITIONS)) else text


def without_guesses(text: str) -> str:
    """Flattened ``text`` without what may be the reason, where a program names several."""
    return _GUESS.sub(" ", text) if " or " in text and any(map(text.__contains__, _GUESSING)) else text


def without_advice(text: str) -> str:
    """Flattened ``text`` without what a program prints behind every error, whatever it is."""
    if "please re" not in text and "payload_summary: " not in text and "shift+tab" not in text:
        return text
    return _ADVICE.sub(" ", text).strip()


def flat(text: str) -> str:
    """Lower case, every run of white space one blank: what phrases are looked for in."""
    return " ".join(text.split()).lower()


def without_wide_blanks(text: str) -> str:
    """Flattened ``text`` without blanks between a number and a Chinese or Japanese word that it counts."""
    return text if text.isascii() else _WIDE_BLANK.sub("", text)


def unwrapped(text: str) -> str | None:
    """``text`` with its line breaks taken out altogether, or None where none can be inside a word.

    A terminal breaks a line inside a word or a number as well as between words, JSON only between values.
    """
    if "\n" not in text and "   " not in text and "\t" not in text:
        return None
    if _WRAPPED_WORD.search(text) is None:
        return None
    joined = _WRAP.sub("", text)
    return None if joined == text else joined


def _is_markup(text: str) -> bool:
    lowered = text[:2048].lower()
    return any(
        mark in lowered
        for mark in ("<html", "<!doctype", "<head", "<title", "<body", "<h1", "<p>", "<?xml", "<error>")
    )


def _without_markup(text: str) -> str:
    """Tags become blanks; what scripts and styles hold is dropped, as is all markup that is cut short."""
    parts: list[str] = []
    position = 0
    lowered = text.lower()
    if len(lowered) != len(text):  # a character whose lower case is longer: keep the positions equal
        text = lowered
    while True:
        opening = _INVISIBLE_ELEMENT.search(lowered, position)
        if opening is None:
            parts.append(text[position:])
            break
        parts.append(text[position : opening.start()])
        end = lowered.find("</" + opening.group(1), opening.end())
        if end < 0:
            break
        position = end
    return _TAG.sub(" ", " ".join(parts))
