"""TLA+ values as TLC prints them, as Python values.

| TLA+ | Python |
|---|---|
| number, string, TRUE | int, str, bool |
| ``<<a, b>>`` | tuple |
| ``{a, b}`` | frozenset |
| ``[x |-> a]`` and ``(0 :> a @@ 1 :> b)`` | Function: a mapping that can be hashed |
| model value | ModelValue |
| ``1 .. 3`` | frozenset |
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ("Function", "ModelValue", "ValueSyntaxError", "parse", "parse_state", "show")

_TOKEN = re.compile(r'\s*(<<|>>|:>|@@|\|->|\.\.|[{}()\[\],]|-?\d+|"(?:[^"\\]|\\.)*"|[A-Za-z_]\w*)')
_VARIABLE = re.compile(r"(?:^|\n)(?:/\\ )?(\w+) = ")
_ESCAPES = {"n": "\n", "t": "\t", "f": "\f", "r": "\r"}


class ValueSyntaxError(ValueError):
    """The text is not a value that TLC prints."""


class ModelValue(str):
    """A model value. It equals the string of its name."""

    __slots__ = ()


class Function(Mapping[Any, Any]):
    """A function or record: an immutable mapping that can be hashed and equals any mapping of the same items."""

    __slots__ = ("_hash", "_items")

    def __init__(self, items: Mapping[Any, Any]) -> None:
        self._items = dict(items)
        self._hash = hash(frozenset(self._items.items()))

    def __getitem__(self, key: Any) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Function):
            return self._items == other._items
        return self._items == other if isinstance(other, dict) else NotImplemented

    def __repr__(self) -> str:
        return show(self)


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.token = ""
        self.advance()

    def advance(self) -> str:
        """Step to the next token and return the one before it."""
        before = self.token
        found = _TOKEN.match(self.text, self.at)
        if found is not None:
            self.at, self.token = found.end(), found[1]
        elif self.text[self.at :].strip():
            raise self.error("unknown token")
        else:
            self.at, self.token = len(self.text), ""
        return before

    def error(self, what: str) -> ValueSyntaxError:
        return ValueSyntaxError(f"{what} at {self.at} in {self.text[:200]!r}")

    def expect(self, token: str) -> None:
        if self.advance() != token:
            raise self.error(f"expected {token}")

    def value(self) -> Any:
        left = self.simple()
        if self.token == "..":
            self.advance()
            return frozenset(range(left, self.simple() + 1))
        return left

    def simple(self) -> Any:
        token = self.advance()
        if token == "<<":
            return tuple(self.items(">>"))
        if token == "{":
            return frozenset(self.items("}"))
        if token == "[":
            return self.record()
        if token == "(":
            return self.function()
        if token.startswith('"'):
            return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), token[1:-1])
        if token in ("TRUE", "FALSE"):
            return token == "TRUE"
        if token.lstrip("-").isdigit():
            return int(token)
        if token and (token[0].isalpha() or token[0] == "_"):
            return ModelValue(token)
        raise self.error("expected a value")

    def items(self, end: str) -> Iterator[Any]:
        if self.token == end:
            self.advance()
            return
        while True:
            yield self.value()
            if self.token == end:
                self.advance()
                return
            self.expect(",")

    def record(self) -> Function:
        fields: dict[str, Any] = {}
        while True:
            name = self.advance()
            self.expect("|->")
            fields[name] = self.value()
            if self.token == "]":
                self.advance()
                return Function(fields)
            self.expect(",")

    def function(self) -> Any:
        first = self.value()
        if self.token == ")":  # only brackets around a value
            self.advance()
            return first
        self.expect(":>")
        pairs = {first: self.value()}
        while self.token == "@@":
            self.advance()
            key = self.value()
            self.expect(":>")
            pairs[key] = self.value()
        self.expect(")")
        return Function(pairs)


def parse(text: str) -> Any:
    """Return the value that the text shows. Raises ValueSyntaxError."""
    parser = _Parser(text)
    value = parser.value()
    if parser.token:
        raise parser.error("text after the value")
    return value


def parse_state(text: str, memo: dict[str, Any] | None = None) -> Function:
    r"""Return a state (``/\ x = 1`` on each line) as a function from variable names to values.

    ``memo`` keeps values that were parsed before, by their text: states of one graph share most of them.
    """
    memo = {} if memo is None else memo
    starts = list(_VARIABLE.finditer(text))
    if not starts or starts[0].start() != 0:
        raise ValueSyntaxError(f"not a state: {text[:200]!r}")
    state = {}
    for found, after in zip(starts, [*starts[1:], None], strict=True):
        shown = text[found.end() : after.start() if after else len(text)].strip()
        if shown not in memo:
            memo[shown] = parse(shown)
        state[found[1]] = memo[shown]
    return Function(state)


def show(value: Any) -> str:
    """Return the value as TLA+ text. ``parse(show(value)) == value``."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, ModelValue):
        return str(value)
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'
    if isinstance(value, (tuple, list)):
        return "<<" + ", ".join(show(item) for item in value) + ">>"
    if isinstance(value, (frozenset, set)):
        return "{" + ", ".join(sorted(show(item) for item in value)) + "}"
    if isinstance(value, Mapping):
        if value and all(type(key) is str for key in value):
            return "[" + ", ".join(f"{key} |-> {show(item)}" for key, item in value.items()) + "]"
        return "(" + " @@ ".join(f"{show(key)} :> {show(item)}" for key, item in value.items()) + ")"
    return str(value)
