"""From what processes at a meeting noted to the actions that they did.

Accesses are recorded in their order, each with a system call, so a store is in memory before the next access of
anybody: each store is followed by its Flush. What a process loads only to say in an error is no action.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fdcomm.meeting.layout import (
    ARRIVAL,
    BROKEN,
    ENDING,
    FLAGS,
    KINDS,
    LIVES,
    LOST,
    NUMBER,
    PLACE,
    TURN,
    Shape,
    endings_of,
    next_round,
    next_turn,
    read_why,
    round_of,
    why_of,
)

__all__ = ("LABELS", "OUTCOMES", "Reading", "turn_of")

Record = dict[str, Any]
Event = dict[str, Any]
OUTCOMES = ("passed", "refused", "timeout", *KINDS[:3])
LABELS = 2
_ANOTHER = len(OUTCOMES)
"""Of SeeWhy: the ending was about another barrier."""
_LOOKS = {"scan": "Scan", "rescan": "Rescan", "look": "LookLocked"}


def turn_of(turn: int) -> int:
    """The turn of the model for one of the code."""
    return turn if turn < 0 else round_of(turn) * 16 + endings_of(turn) * 4 + turn % 4


class Reading:
    """What is known of each process from its own records.

    Args:
        shape: The meeting.
    """

    def __init__(self, shape: Shape) -> None:
        ranks = self._ranks = shape.ranks
        self._owner, self._second = ranks, ranks + 1
        size = ranks + 2
        self._words = {TURN: ("turn", 0), FLAGS: ("flags", 0)}
        self._words |= {LIVES + rank: ("life", rank) for rank in range(ranks)}
        self._words |= {shape.of_line(line, ARRIVAL): ("word", line) for line in range(shape.lines)}
        self._words |= {shape.of_line(line, NUMBER): ("label", line) for line in range(shape.lines)}
        self._words |= {why_of(ENDING * number): ("why", number) for number in range(4)}
        if shape.places > 1:
            banks = ((bank, place) for bank in (0, next_round(0)) for place in range(shape.places))
            self._words |= {shape.passes(*where): ("count", number) for number, where in enumerate(banks)}
        self._pc = ["out"] * size
        self._do = [""] * size
        self._at = [0] * size
        self._stamp = [0] * size
        self._label = [0] * size
        self._number = [0] * size
        self._turn = 0
        self.calls = 0
        self._called = [0] * size

    def read(self, record: Record) -> Iterator[Event]:
        """Yield the actions that a record stands for."""
        p, op, value = record["process"], record["op"], record["value"]
        if op in ("load", "store"):
            word, place = self._words.get(record["word"], ("", 0))
            yield from (self._load if op == "load" else self._store)(p, word, place, value)
        elif op == "flag":
            yield from self._flag(p, value)
        else:
            name, _, more = op.partition(" ")
            steps: dict[str, Callable[..., Iterator[Event]]] = {
                "call": self._call,
                "ended": self._ended,
                "ask": self._ask,
                "come": self._come,
                "take": self._take,
                "give": self._give,
                "wake": self._wake,
                "barrier": self._barrier,
                "sleep": self._sleep,
                "woken": self._woken,
                "gone": self._gone,
                "kill": self._kill,
            }
            yield from steps[name](p, more or value)

    # -- marks ---------------------------------------------------------------------------------------------------------

    def _call(self, p: int, label: int) -> Iterator[Event]:
        self._called[p] += 1
        self.calls = max(self.calls, self._called[p])
        self._pc[p], self._label[p] = "begin", label
        yield from ()

    def _ended(self, p: int, outcome: str) -> Iterator[Event]:
        refused = self._do[p] == "refused"
        self._do[p] = ""
        yield _action("Told", p, OUTCOMES.index("refused" if refused else outcome))

    def _ask(self, p: int, what: str) -> Iterator[Event]:
        self._pc[p], self._do[p] = "lock", what
        yield _action(f"Ask{what.title()}", p)

    def _come(self, p: int, _: int) -> Iterator[Event]:
        self._pc[p], self._do[p] = "lock", "join"
        yield _action("Come", p)

    # -- system calls --------------------------------------------------------------------------------------------------

    def _take(self, p: int, _: int) -> Iterator[Event]:
        if self._pc[p] == "wait":
            self._do[p] = "withdraw"
            yield _action("Timeout", p)
        self._pc[p] = "turn"
        yield _action("TakeLock", p)

    def _give(self, p: int, _: int) -> Iterator[Event]:
        self._pc[p] = "out" if p == self._owner or self._do[p] in ("join", "withdrawn") else "see"
        self._do[p] = ""
        yield _action("GiveLock", p)

    def _wake(self, p: int, _: int) -> Iterator[Event]:
        self._pc[p] = "give"
        self._pc = ["roused" if pc == "asleep" else pc for pc in self._pc]
        yield _action("Wake", p)

    def _barrier(self, p: int, _: int) -> Iterator[Event]:
        self._pc[p] = "due"
        yield from (_action("BarrierReaches", p) for _ in range(self._ranks + 2))

    def _sleep(self, p: int, _: int) -> Iterator[Event]:
        self._pc[p] = "asleep" if self._turn == self._stamp[p] else "roused"
        yield _action("Sleep", p)

    def _woken(self, p: int, _: int) -> Iterator[Event]:
        if self._pc[p] == "asleep":
            yield _action("Rouse", p)
        self._pc[p] = "again"

    def _gone(self, p: int, somebody: int) -> Iterator[Event]:
        if self._pc[p] == "miss":
            self._pc[p], self._do[p] = "down", "fence" if somebody else ""
            yield _action("SeeDead", p)
        else:
            self._pc[p] = "ending" if somebody else "give"
            yield _action("SeeTurnLocked", p)

    def _kill(self, p: int, _: int) -> Iterator[Event]:
        self._pc[p] = "dead"
        yield _action("Kill", p)

    # -- accesses ------------------------------------------------------------------------------------------------------

    def _flag(self, p: int, up: int) -> Iterator[Event]:
        if up:
            self._pc[p] = "barrier"
            yield from _stored("RaiseFlag", p)
        else:
            self._pc[p] = "lock" if self._do[p] else "see"
            yield from _stored("LowerFlag", p)

    def _store(self, p: int, word: str, place: int, value: int) -> Iterator[Event]:
        pc = self._pc[p]
        if word == "label":
            self._pc[p], self._number[p] = "word", value
            yield from _stored("StoreLabel", p)
        elif word == "word" and value >= 0:
            self._pc[p], self._at[p] = "scan", 0
            yield from _stored("StoreWord", p, turn_of(value))
        elif word == "word" and pc == "clear":
            self._pc[p], self._do[p] = "give", "withdrawn"
            yield from _stored("StoreWithdrawn", p)
        elif word == "life":
            yield from _stored("StoreLife", p)
        elif word == "count":
            yield from _stored("StoreCount", p, value)
        elif word == "why":
            yield from _stored("StoreWhy", p)
        elif word == "turn":
            self._turn, self._pc[p] = value, "flags"
            yield from _stored("StoreTurn", p, turn_of(value))

    def _load(self, p: int, word: str, place: int, value: int) -> Iterator[Event]:
        pc = self._pc[p]
        if pc in _LOOKS:
            yield from self._look(p, pc, word, value)
        elif word == "turn":
            yield from self._see_turn(p, pc, value)
        elif word == "life" and pc in ("life?", "mine"):
            stands = value == (2 if p == self._second else 0)
            self._do[p] = "" if stands else "refused"
            self._pc[p] = "label" if stands and pc == "life?" else "out"
            yield _action("SeeLife" if pc == "life?" else "SeeStanding", p, value)
        elif word == "life" and pc == "whose":
            self._pc[p] = "give" if value % 2 else "ending"
            yield _action("SeeTurnLocked", p)
        elif word == "why" and pc == "why":
            kind, place = read_why(value, next_turn(self._stamp[p], 0))
            other = kind == "reset" or (kind == "broken" and place != self._label[p] // LABELS)
            self._pc[p] = "then" if other else "out"
            if other:
                self._stamp[p] = next_turn(self._stamp[p], 0)
            yield _action("SeeWhy", p, _ANOTHER if other else OUTCOMES.index(kind))
        elif word == "flags" and pc == "flags":
            self._pc[p] = "wake" if value else "give"
            yield _action("LoadFlags", p)

    def _look(self, p: int, pc: str, word: str, value: int) -> Iterator[Event]:
        if word == "word" and value != self._stamp[p]:
            self._pc[p] = {"scan": "see", "rescan": "sleep", "look": "give"}[pc]
        elif word == "label" and value != self._number[p] and value // PLACE == self._number[p] // PLACE:
            self._found(p, pc, "ending")
        elif word == "label":
            self._at[p] += 1
            if self._at[p] < self._ranks:
                yield _action(_LOOKS[pc], p)
                return
            self._found(p, pc, "ending")
        else:
            return
        self._at[p] = 0
        yield _action(_LOOKS[pc], p)

    def _found(self, p: int, pc: str, locked: str) -> None:
        self._pc[p], self._do[p] = {"scan": "lock", "rescan": "down", "look": locked}[pc], "pass"

    def _see_turn(self, p: int, pc: str, value: int) -> Iterator[Event]:
        same = value == self._stamp[p]
        if pc == "begin":
            closed = value & (LOST | BROKEN << self._label[p] // LABELS)
            self._pc[p], self._do[p] = ("out", "refused") if closed else ("life?", "")
            self._stamp[p] = self._stamp[p] if closed else value
            yield _action("Begin", p, 0 if closed else self._label[p])
        elif pc == "see":
            passed = round_of(value) > round_of(self._stamp[p])
            self._pc[p] = "wait" if same else "mine" if passed else "why"
            yield _action("SeeTurn", p, turn_of(value))
        elif pc == "then":
            if value // ENDING == self._stamp[p] // ENDING:
                self._stamp[p], self._pc[p] = value, "life?"
            else:
                self._pc[p] = "why" if round_of(value) == round_of(self._stamp[p]) else "mine"
            yield _action("SeeNext", p, turn_of(value))
        elif pc in ("due", "again"):
            there = {"due": "rescan", "again": "miss"}[pc]
            self._pc[p], self._at[p] = there if same else "down", 0
            yield _action("SeeDue" if pc == "due" else "SeeAgain", p)
        elif pc == "turn":
            yield from self._decide(p, value, same)

    def _decide(self, p: int, value: int, same: bool) -> Iterator[Event]:
        do = self._do[p]
        if do == "fence" and (p == self._owner or same):
            self._pc[p] = "whose" if p == self._owner else "gone"  # a look at lives is in the same step
            return
        if do == "abort":
            self._pc[p] = "give" if value & BROKEN else "ending"
        elif do == "reset":
            self._pc[p] = "ending" if value & BROKEN else "give"
        elif do == "join":
            self._pc[p] = "ending"
        else:
            self._pc[p] = {"pass": "look", "withdraw": "clear"}[do] if same else "give"
            self._at[p] = 0
        yield _action("SeeTurnLocked", p)


def _action(name: str, who: int, value: int = 0) -> Event:
    return {"action": name, "who": who, "value": value}


def _stored(name: str, process: int, value: int = 0) -> Iterator[Event]:
    yield _action(name, process, value)
    yield _action("Flush", process)
