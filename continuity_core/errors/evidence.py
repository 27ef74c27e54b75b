"""Everything that a failure says, made ready once for classification and for wait guidance."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from continuity_core.errors.fields import Field, harvest, plain_name
from continuity_core.errors.forms import core_of, without_head
from continuity_core.errors.lazily import lazy
from continuity_core.errors.normalising import (
    clean,
    flat,
    unescape,
    unwrapped,
    without_advice,
    without_conditions,
    without_denials,
    without_echoes,
    without_guesses,
    without_urls,
    without_wide_blanks,
)
from continuity_core.errors.sentences import sentences_of
from continuity_core.errors.tables.codes import CODE_FIELDS, STATUS_FIELDS
from continuity_core.errors.tables.statuses import REASON_PHRASES
from continuity_core.errors.word_index import FoldedText
from continuity_core.model.failure import Failure

_GOOGLE = (
    "resource_exhausted",
    "resource exhausted",
    "resource has been exhausted",
    "googleapis.com",
    "ai.google.dev",
    "google.rpc",
    "gemini",
    "vertex",
    "generate_content",
    "generatecontent",
    "quotaid",
    "perprojectpermodel",
)
_ALIBABA = (
    "allocated quota exceeded",
    "aliyun",
    "alibabacloud",
    "dashscope",
    "model-studio",
    "modelstudio",
    "bailian",
    "百炼",
)

_STATUS = re.compile(r"(?<![\w.,:/-])[45]\d\d(?![\w%]|[.,:-]\d)")
_LEADS = (
    "http",
    "http/1.1",
    "http/1.0",
    "http/2",
    "http/3",
    "http status",
    "http error",
    "http code",
    "status",
    "status_code",
    "statuscode",
    "status code",
    "error code",
    "error_code",
    "error",
    "api error",
    "server error",
    "request rejected",
    "request",
    "returned",
    "returned a",
    "returned an",
    "responded with",
    "responded",
    "response",
    "response code",
    "got",
    "received",
    "code",
    "failed",
    "failed with",
    "unexpected status",
    "upstream",
    "with status",
    "error of",
    "exception",
    "retries",
    "attempts",
    "last error",
    "message",
    "msg",
    "detail",
    "reason",
)
"""What stands right before a number that is a status."""
_CLOSED = ("): ", "]: ")
_NUMBERED = ("error", "status", "code")
"""Words behind which also ``#429`` is a status, no number of a request."""
_FIRST_STATUS = re.compile(
    r"(?:[\w.]{1,64}(?:error|exception):? ?)?[^\w]{0,6}"
    r"([45]\d\d)(?!%|\.\w)(?=[:;,.)\]}]? ?(?:[^\w\s]|$|[a-z_]))"
)
_AMOUNT = re.compile(
    r"[ ,.]{0,2}(?:of|bytes?|tokens?|ms|s|secs?|seconds?|minutes?|requests|more|expected|items?"
    r"|chars?|characters?|files?|lines?|tests?|times|[kmg]i?b|x|read|chunks?|events?|frames?|records?)\b"
    r"|/\d"
)
_SENTENCES_LENGTH = 2048
_MESSAGE_FIELDS = frozenset({"message", "msg", "detail", "error", "errormessage", "reason"})
_NAME = re.compile(r"[A-Za-z_][\w.]{2,100}")
_EXCEPTION_ENDINGS = (
    "Error",
    "Exception",
    "Timeout",
    "Exhausted",
    "Unavailable",
    "Disconnected",
    "IncompleteRead",
    "Exceeded",
    "Interrupt",
    "IncompleteMessage",
)
_EXCEPTION_NAME_LIMIT = 16
_CODE_LIMIT = 80
"""Characters of the longest code; what is longer is prose."""


class Evidence:
    """What a failure says: comparable texts, fields, statuses and codes; each made at the first question."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        self._spellings: dict[str, str] = {}

    @lazy
    def raw(self) -> str:
        """The cleaned message, and the body where it adds something; case and line breaks are kept."""
        message = clean(without_echoes(self.failure.message))
        body = clean(without_echoes(self.failure.body)) if self.failure.body else ""
        return message if not body or body in message else f"{message}\n{body}"

    @lazy
    def marks(self) -> str:
        """The flattened text with its web addresses: what tells whose error it is."""
        return flat(unescape(self.raw))

    @lazy
    def folded(self) -> FoldedText:
        """The flattened text that phrases are looked for in."""
        return FoldedText(without_guesses(self.told))

    @lazy
    def told(self) -> str:
        """The flattened text, with what its program only guesses at."""
        return _comparable(self.raw)

    @property
    def guesses(self) -> bool:
        """Whether the program that made the text only guesses at the cause, and at several."""
        return len(self.told) != len(self.text)

    @lazy
    def text(self) -> str:
        return self.folded.text

    @lazy
    def joined(self) -> FoldedText | None:
        """As ``folded``, with line breaks taken out, not turned into blanks; None where there are none."""
        joined = unwrapped(self.raw)
        return None if joined is None else FoldedText(without_guesses(_comparable(joined)))

    @property
    def foldings(self) -> tuple[FoldedText, ...]:
        """The text as it is, and as it is if its line breaks are a terminal's."""
        return (self.folded,) if self.joined is None else (self.folded, self.joined)

    @lazy
    def sentences(self) -> list[frozenset[str]]:
        """The stems of the words of each sentence, for the beginning of the text."""
        return sentences_of(without_head(self.text[:_SENTENCES_LENGTH]))

    @lazy
    def stems(self) -> frozenset[str]:
        """The stems of all sentences."""
        return frozenset().union(*self.sentences)

    @lazy
    def cores(self) -> frozenset[str]:
        """Short messages that may be all that is told, without prefixes, brackets and a stack."""
        told = [self.text]
        if self.status is None:  # with one the server says that it was cancelled
            told += [
                flat(field.value)
                for field in self.fields
                if field.name in _MESSAGE_FIELDS and isinstance(field.value, str)
            ]
        return frozenset(map(core_of, told))

    @lazy
    def fields(self) -> list[Field]:
        found = harvest(self.raw) if "{" in self.raw or "=" in self.raw or ":" in self.raw else []
        if self.failure.body and self.failure.body in self.failure.message and "{" not in self.raw:
            found += harvest(self.failure.body)
        return found

    @lazy
    def codes(self) -> tuple[tuple[str, int], ...]:
        """Plain machine-readable codes and types with their depth, the innermost first.

        What a gateway quotes from its provider says more than the gateway's own code; the failure's own code
        and type stand before all of their depth.
        """
        header = self.failure.headers.get("x-amzn-errortype") or self.failure.headers.get("x-error-code")
        words = [self.failure.code, self.failure.type, header and header.partition(":")[0]]
        found: dict[str, int] = {}
        for word in words:
            if word:
                found[self._plain_code(word)] = 0
        for field in self.fields:
            value = field.value
            if field.name in CODE_FIELDS and isinstance(value, str | int) and not isinstance(value, bool):
                word = str(value)
                if len(word) <= _CODE_LIMIT and not (field.name == "error" and self._is_prose(word)):
                    plain = self._plain_code(word.rpartition("#")[2])
                    found[plain] = max(field.depth, found.get(plain, 0))
        found.pop("", None)
        return tuple(sorted(found.items(), key=lambda item: -item[1]))

    def _is_prose(self, word: str) -> bool:
        """Whether ``word`` is but what follows ``Error:`` in a sentence, as an exception's name does."""
        return "_" not in word and f"rror: {word}" in self.raw

    def _plain_code(self, word: str) -> str:
        plain = plain_name(word)
        self._spellings.setdefault(plain, word.strip())
        return plain

    def spelled(self, plain: str) -> str:
        """A code or an exception's name as the provider writes it."""
        return self._spellings.get(plain, plain)

    @lazy
    def status(self) -> int | None:
        """The HTTP status: a field of the response, else of the text, else an anchored prefix of the text."""
        own = self.failure.status
        if own is not None and own >= 400:
            return own
        for field in self.fields:
            if field.name in STATUS_FIELDS:
                number = _as_status(field.value)
                if number is not None:
                    return number
        return self._status_in_text()

    def _status_in_text(self) -> int | None:
        text = self.text
        first = _FIRST_STATUS.match(text)
        if first is not None and not _AMOUNT.match(text, first.end(1)):
            return int(first.group(1))
        for match in _STATUS.finditer(text):
            start, end = match.span()
            if _AMOUNT.match(text, end):
                continue
            before = text[max(0, start - 24) : start].rstrip(" :=([#'\"")
            if text[start - 1 : start] == "#" and not before.endswith(_NUMBERED):
                continue
            status = int(match.group())
            if (
                before.endswith(_LEADS)
                or self._behind_a_break(start)
                or text.startswith(REASON_PHRASES.get(status, ()), end + _gap(text, end))
            ):
                return status
        return None

    def _behind_a_break(self, start: int) -> bool:
        """Whether what a program says of its call ends right before ``start``: ``(attempt 1/3): 400 …``."""
        before = self.text[max(0, start - 4) : start]
        return before.endswith(_CLOSED) or (before.endswith(" - ") and before[0].isalpha())

    @lazy
    def exception_names(self) -> tuple[str, ...]:
        """Last parts of exceptions' names in lower case: the failure's own, then those in the text."""
        names = list(self.failure.exceptions)
        if any(map(self.raw.__contains__, _EXCEPTION_ENDINGS)):
            told = (word for word in _NAME.findall(self.raw) if word.endswith(_EXCEPTION_ENDINGS))
            names += itertools.islice(told, _EXCEPTION_NAME_LIMIT)
        if not names:
            return ()
        last_parts = [name.rpartition(".")[2] for name in names]
        for part in last_parts:
            self._spellings.setdefault(part.lower(), part)
        return tuple(dict.fromkeys(part.lower() for part in last_parts))

    @lazy
    def from_google(self) -> bool:
        return any(mark in self.marks for mark in _GOOGLE)

    @lazy
    def from_alibaba(self) -> bool:
        return any(mark in self.marks for mark in _ALIBABA)

    def quota_values(self) -> Iterator[Field]:
        """Headers and fields under plain names."""
        for header, text in self.failure.headers.items():
            yield Field(plain_name(header), text, 0, header)
        yield from self.fields


def _comparable(raw: str) -> str:
    flattened = without_wide_blanks(flat(without_urls(unescape(raw))))
    return without_conditions(without_denials(without_advice(flattened)))


def _gap(text: str, position: int) -> int:
    """Length of what may stand between a status and its reason phrase."""
    length = 0
    while length < 3 and text[position + length : position + length + 1] in (" ", ":", "-"):
        length += 1
    return length


def _as_status(value: object) -> int | None:
    if isinstance(value, str) and len(value) == 3 and value.isdecimal():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 400 <= value <= 599:
        return value
    return None
