"""What a process does to memory through its store buffer, as x86-64 processors have one, and how it goes on.

A store reaches memory later, in its order, and its own process sees it at once. A store is the name of a field of
``mem``, a place in it, and the value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from models.kernel import replaced

__all__ = ("Buffered", "Going", "at", "flush", "load", "moved", "put")

V = TypeVar("V", covariant=True)
W = TypeVar("W")


class Going(Protocol):
    """A state in which ``pc`` says where each process is."""

    @property
    def pc(self) -> tuple[str, ...]: ...

    @property
    def _replace(self) -> Callable[..., Any]: ...


class Buffered(Going, Protocol[V]):
    """A state that has memory, and for each process the stores that are on their way there."""

    @property
    def mem(self) -> Any: ...

    @property
    def buf(self) -> tuple[tuple[tuple[str, int, V], ...], ...]: ...


G = TypeVar("G", bound=Going)
S = TypeVar("S", bound=Buffered[Any])


def at(s: G, p: int, here: str, there: str) -> G | None:
    """Return the state in which p has gone on, or None if it is not there."""
    return moved(s, p, there) if s.pc[p] == here else None


def moved(s: G, p: int, there: str, **fields: Any) -> G:
    """Return the state in which p is there, and has these values of its own."""
    changed = {name: replaced(getattr(s, name), p, value) for name, value in fields.items()}
    after: G = s._replace(pc=replaced(s.pc, p, there), **changed)
    return after


def put(s: S, p: int, word: str, place: int, value: int | str) -> S:
    """Return the state with a store of p on its way."""
    after: S = s._replace(buf=replaced(s.buf, p, (*s.buf[p], (word, place, value))))
    return after


def load(s: Buffered[W], p: int, word: str, place: int) -> W:
    """Return what p loads: its own newest store, if one is on its way."""
    own = [store[2] for store in s.buf[p] if store[:2] == (word, place)]
    there: W = own[-1] if own else getattr(s.mem, word)[place]
    return there


def flush(s: S, p: int) -> S | None:
    """The oldest store of p reaches memory."""
    if not s.buf[p]:
        return None
    (word, place, value), *rest = s.buf[p]
    mem = s.mem._replace(**{word: replaced(getattr(s.mem, word), place, value)})
    after: S = s._replace(mem=mem, buf=replaced(s.buf, p, tuple(rest)))
    return after
