"""Reads the text of a strategy. A closed grammar by recursive descent; nothing is ever evaluated.

expression  = term { "+" term }                      of waits
            = all { "|" all } ;  all = term { "&" term }   of stops
term        = duration | "(" expression ")" | name [ "(" [ argument { "," argument } ] ")" ]
argument    = expression                             of chain, combine, any, all
            | [ name "=" ] duration                  of the others
"""

from __future__ import annotations

import difflib
import inspect
import math
import re
from collections.abc import Collection, Iterator
from typing import Any

import attrs

from continuity_core.engine.durations import NUMBER, number_text, parse_duration
from continuity_core.engine.strategy_forms import Form, Grammar, Joint, Unit

LONGEST_TEXT = 1000
"""Characters, also of the canonical form, so that it can always be read back."""
DEEPEST_NESTING = 20

_TOKEN = re.compile(
    rf"(?P<amount>{NUMBER}(?:\s*[A-Za-z]+(?:\s*{NUMBER}\s*[A-Za-z]+)*)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<sign>[()+|&,=])"
    r"|(?P<space>\s+)"
)


def _shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 3] + "..."


class StrategyError(ValueError):
    """The text of a strategy cannot be read: at which column, what was found and what is allowed."""

    def __init__(self, noun: str, text: str, column: int, problem: str) -> None:
        super().__init__(f"{noun} {_shortened(text, 80)!r}, column {column}: {problem}")
        self.column = column
        """From 1."""
        self.problem = problem


@attrs.frozen
class Token:
    """A word of the text; the end has none."""

    kind: str
    text: str
    column: int

    def __str__(self) -> str:
        return repr(_shortened(self.text, 40)) if self.text else "the end"


@attrs.frozen
class Parsed:
    """A part of the text, in canonical form, and the object that it stands for."""

    text: str
    value: Any
    operator: str | None = None
    """The operator that joins ``parts``, outermost."""
    parts: tuple[Parsed, ...] = ()


def parse(grammar: Grammar, text: str) -> Parsed:
    """Read the whole of ``text``; StrategyError if it is none of the grammar's."""
    if len(text) > LONGEST_TEXT:
        problem = f"the text has {len(text)} characters; at most {LONGEST_TEXT} are allowed"
        raise StrategyError(grammar.noun, text, LONGEST_TEXT + 1, problem)
    parsed = _Parser(grammar, text).whole()
    if len(parsed.text) > LONGEST_TEXT:
        problem = (
            f"written out in full it has {len(parsed.text)} characters; at most {LONGEST_TEXT} are allowed"
        )
        raise StrategyError(grammar.noun, text, 1, problem)
    return parsed


class _Parser:
    def __init__(self, grammar: Grammar, text: str) -> None:
        self._grammar = grammar
        self._text = text
        self._operators = [
            (joint.operator, joint) for joint in grammar.joints.values() if joint.operator is not None
        ]
        self._tokens = self._tokenize()
        self._token = next(self._tokens)
        self._depth = 0

    def whole(self) -> Parsed:
        parsed = self._expression()
        if self._token.text:
            raise self._unexpected(" or ".join([*(repr(sign) for sign, _ in self._operators), "the end"]))
        return parsed

    def _tokenize(self) -> Iterator[Token]:
        position = 0
        while position < len(self._text):
            match = _TOKEN.match(self._text, position)
            if match is None:
                hint = "; numbers are at least 0" if self._text[position] == "-" else ""
                raise self._error(
                    position + 1, f"found {self._text[position]!r}, which has no meaning here{hint}"
                )
            kind = str(match.lastgroup)
            if kind != "space":
                yield Token(kind, match.group(), position + 1)
            position = match.end()
        while True:
            yield Token("end", "", position + 1)

    def _take(self) -> Token:
        token, self._token = self._token, next(self._tokens)
        return token

    def _takes(self, sign: str) -> bool:
        if self._token.text != sign:
            return False
        self._take()
        return True

    def _expect(self, sign: str, or_else: str = "") -> None:
        if not self._takes(sign):
            raise self._unexpected(f"{or_else}{sign!r}")

    def _expression(self, level: int = 0) -> Parsed:
        if level == len(self._operators):
            return self._term()
        sign, joint = self._operators[level]
        parts = [self._expression(level + 1)]
        while self._takes(sign):
            parts.append(self._expression(level + 1))
        return self._joined(joint, parts)

    def _term(self) -> Parsed:
        self._depth += 1
        if self._depth > DEEPEST_NESTING:
            raise self._error(self._token.column, f"nested deeper than {DEEPEST_NESTING} levels")
        try:
            if self._takes("("):
                inner = self._expression()
                self._expect(")")
                return inner
            if self._token.kind == "name":
                return self._named(self._take())
            if self._token.kind == "amount" and self._grammar.number_means is not None:
                name = self._grammar.number_means
                (parameter,) = self._grammar.forms[name].parameters
                return self._made(name, {parameter: self._amount(Unit.SECONDS)}, self._token.column)
            raise self._unexpected(f"a {self._grammar.noun}: {', '.join(self._grammar.names)}")
        finally:
            self._depth -= 1

    def _named(self, token: Token) -> Parsed:
        name = token.text.removeprefix(self._grammar.prefix)
        name = self._grammar.synonyms.get(name, name)
        joint = self._grammar.joints.get(name)
        if joint is not None:
            return self._call_of_strategies(name, joint)
        if name not in self._grammar.forms:
            raise self._unknown(token, name, self._grammar.noun, self._grammar.names)
        return self._call_of_numbers(name, token)

    def _call_of_strategies(self, name: str, joint: Joint) -> Parsed:
        self._expect("(")
        parts = [self._expression()]
        while self._takes(","):
            parts.append(self._expression())
        self._expect(")", "',' or ")
        if joint.operator is not None:
            return self._joined(joint, parts)
        text = f"{name}({', '.join(part.text for part in parts)})"
        return Parsed(text, joint.make(*(part.value for part in parts)))

    def _joined(self, joint: Joint, parts: list[Parsed]) -> Parsed:
        """Flat where an operator meets itself; one alone stays itself."""
        if len(parts) == 1:
            return parts[0]
        flat: list[Parsed] = []
        for part in parts:
            flat.extend(part.parts if part.operator == joint.operator else [part])
        tighter = self._operators[-1][0] == joint.operator
        texts = [f"({part.text})" if tighter and part.operator else part.text for part in flat]
        value = joint.make(*(part.value for part in flat))
        return Parsed(f" {joint.operator} ".join(texts), value, joint.operator, tuple(flat))

    def _call_of_numbers(self, name: str, name_token: Token) -> Parsed:
        form = self._grammar.forms[name]
        arguments: dict[str, float] = {}
        if self._takes("(") and not self._takes(")"):
            self._read_arguments(name, form, arguments)
            self._expect(")", "',' or ")
        for parameter in list(form.parameters)[: form.required]:
            if parameter not in arguments:
                unit = form.parameters[parameter]
                raise self._error(name_token.column, f"{name} needs {parameter}, {unit.value}")
        return self._made(name, arguments, name_token.column)

    def _read_arguments(self, name: str, form: Form, arguments: dict[str, float]) -> None:
        positions = list(form.parameters)
        by_name = False
        while True:
            token = self._token
            if token.kind == "name":
                by_name = True
                self._take()
                parameter = form.aliases.get(token.text, token.text)
                if parameter not in form.parameters:
                    raise self._unknown(token, token.text, f"parameter of {name}", positions)
                self._expect("=")
            elif by_name:
                raise self._error(token.column, "an argument without a name must not follow one with a name")
            elif len(arguments) == len(positions):
                raise self._error(token.column, f"{name} takes no more arguments than {len(positions)}")
            else:
                parameter = positions[len(arguments)]
            if parameter in arguments:
                raise self._error(token.column, f"{parameter} is given twice")
            arguments[parameter] = self._amount(form.parameters[parameter])
            if not self._takes(","):
                return

    def _amount(self, unit: Unit) -> float:
        token = self._token
        if token.kind != "amount":
            raise self._unexpected(unit.value)
        if unit is not Unit.SECONDS and token.text[-1].isalpha():
            raise self._unexpected(unit.value)
        try:
            value = parse_duration(token.text)
        except ValueError as error:
            raise self._error(token.column, str(error)) from None
        if unit is Unit.COUNT and not (value >= 1 and value.is_integer()):
            raise self._unexpected(unit.value)
        self._take()
        return value

    def _made(self, name: str, arguments: dict[str, float], column: int) -> Parsed:
        form = self._grammar.forms[name]
        defaults = inspect.signature(form.make).parameters
        if {"min", "max"} <= form.parameters.keys():
            low, high = (
                arguments.get(bound, defaults[bound].default if bound in defaults else default)
                for bound, default in (("min", 0.0), ("max", math.inf))
            )
            if low > high:
                problem = f"{name} has min={number_text(float(low))} above max={number_text(float(high))}"
                raise self._error(column, problem)
        if len(form.parameters) == 1:
            shown = ", ".join(number_text(value) for value in arguments.values())
        else:
            shown = ", ".join(
                f"{parameter}={number_text(arguments[parameter])}"
                for parameter in form.parameters
                if parameter in arguments
            )
        text = f"{name}({shown})" if form.parameters else name
        return Parsed(text, form.make(*arguments.values()) if form.required else form.make(**arguments))

    def _unexpected(self, allowed: str) -> StrategyError:
        return self._error(self._token.column, f"found {self._token}, expected {allowed}")

    def _unknown(self, token: Token, word: str, kind: str, allowed: Collection[str]) -> StrategyError:
        near = difflib.get_close_matches(word.lower(), allowed, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        listed = ", ".join(allowed) or "none"
        return self._error(token.column, f"found {token}, which is no {kind}{hint}; allowed: {listed}")

    def _error(self, column: int, problem: str) -> StrategyError:
        return StrategyError(self._grammar.noun, self._text, column, problem)
