"""Making provider text fit for logs, terminals and journals."""

from __future__ import annotations

import re
import unicodedata

_ESCAPE_SEQUENCE = re.compile(
    r"\x1b(?:\[[0-?]{0,64}[ -/]{0,16}[@-~]|\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)?|.?)", re.DOTALL
)

# Prefixes under which providers issue keys, and the names under which tokens travel. Every repetition is
# bounded or over a single class, so that matching stays linear.
_SECRET = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|csk|pplx|hf|r8|ghp|gho|ghs|glpat|nvapi|fw|tgp|key)[-_][A-Za-z0-9_\-]{8,512}"
    r"|\bAIza[A-Za-z0-9_\-]{20,128}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{12,32}"
    r"|\beyJ[A-Za-z0-9_\-]{8,2048}\.[A-Za-z0-9_\-.]{1,4096}"
)
_NAMED_SECRET = re.compile(
    r"(?i)\b((?:authorization|(?:x-)?api[-_ ]?key|access[-_]token|refresh[-_]token|password|secret|set-cookie"
    r"|cookie)['\"]?\s{0,4}[:=]\s{0,4}['\"]?(?:(?:bearer|basic)\s{1,4})?|(?:bearer|basic)\s{1,4}(?=\S{16}))"
    r"[A-Za-z0-9+/_\-.=~]{8,4096}"
)

MASK = "***"


def printable(text: str, limit: int = 500) -> str:
    """One line of text without control characters and escape sequences, cut to ``limit`` characters."""
    return _cut(_one_line(text[: limit * 4]), limit)


def masked(text: str) -> str:
    """The text with what looks like a key, a token or a password taken out.

    Escape sequences hide a key from it: text of others goes through :func:`shown`.
    """
    return _NAMED_SECRET.sub(rf"\1{MASK}", _SECRET.sub(MASK, text))


def shown(text: str, limit: int = 500) -> str:
    """Text of others as it may be shown: one printable line, at most ``limit`` characters, no secrets."""
    return _cut(masked(_one_line(text[: limit * 4])), limit)


def _one_line(text: str) -> str:
    text = _ESCAPE_SEQUENCE.sub("", text)
    if not text.isprintable():
        text = "".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in text)
    return " ".join(text.split())


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
