"""The abstract broadcast that every delivery protocol refines; the twin of ``tla/common/Broadcast.tla``.

Messages are sent in order, and every reader gets each of them once and in that order. A clear takes back what nobody
has got; a reader that was lost and comes back does not get what the others have begun without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from models.kernel import Action, Model, Step, replaced

__all__ = ("Broadcast", "Config", "State")

OUT, IN, DYING, LOST = "out", "in", "dying", "lost"


class State(NamedTuple):
    """All variables of the spec."""

    sent: tuple[int, ...]
    got: tuple[tuple[int, ...], ...]
    dropped: frozenset[int]
    skipped: tuple[frozenset[int], ...]
    epoch: int
    reader: tuple[str, ...]
    writer: bool


@dataclass(frozen=True)
class Config:
    """Readers 0 .. readers-1, messages 1 .. messages, epochs 0 .. clears."""

    readers: int = 2
    messages: int = 2
    depth: int = 1
    clears: int = 1

    def constants(self) -> dict[str, int | frozenset[int]]:
        """Return the constants under their names in the spec."""
        return {
            "Readers": frozenset(range(self.readers)),
            "Messages": frozenset(range(1, self.messages + 1)),
            "Depth": self.depth,
            "Epochs": frozenset(range(self.clears + 1)),
        }


Steps: TypeAlias = Iterator[Step[State]]


class Broadcast(Model[State]):
    """Next-state relation."""

    def __init__(self, config: Config | None = None) -> None:
        self.name = "broadcast"
        self.config = config = config or Config()
        self.readers = range(config.readers)
        self.actions = {
            "Send": self.send,
            "Receive": self.receive,
            "Enter": lambda s: self._become(s, "Enter", OUT, IN),
            "Exit": lambda s: self._become(s, "Exit", IN, OUT),
            "Die": lambda s: self._become(s, "Die", IN, DYING),
            "Lose": lambda s: self._become(s, "Lose", DYING, LOST),
            "Recover": self.recover,
            "Clear": self.clear,
            "WriterComesOrGoes": self.writer_comes_or_goes,
        }
        self.invariants = {
            "ExactlyOnceInOrder": lambda s: all(
                ids == self.wanted(s, reader)[: len(ids)] for reader, ids in enumerate(s.got)
            ),
            "Bounded": lambda s: len(self.pending(s)) <= config.depth,
            "OneFate": lambda s: all(
                not s.dropped.intersection(ids) and not s.skipped[reader].intersection(ids)
                for reader, ids in enumerate(s.got)
            ),
        }
        self.action_properties = {}
        self.sometimes = {
            "everybody got the last message": lambda s: all(config.messages in ids for ids in s.got),
            "a message was taken back": lambda s: bool(s.dropped),
            "a reader missed a message": lambda s: any(s.skipped),
        }
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """Nothing was sent, and nobody reads."""
        n = len(self.readers)
        return (State((), ((),) * n, frozenset(), (frozenset(),) * n, 0, (OUT,) * n, True),)

    def wanted(self, s: State, reader: int) -> tuple[int, ...]:
        """What a reader should get, from first to last."""
        return tuple(m for m in s.sent if m not in s.dropped and m not in s.skipped[reader])

    def pending(self, s: State) -> frozenset[int]:
        """Messages under way: somebody still has to get them."""
        ends = list(zip(s.got, s.skipped, strict=True))
        return frozenset(
            m for m in s.sent if m not in s.dropped and any(m not in got and m not in missed for got, missed in ends)
        )

    def send(self, s: State) -> Steps:
        """A message that is newer than all others is under way."""
        if s.writer and len(self.pending(s)) < self.config.depth:
            for message in range(max(s.sent, default=0) + 1, self.config.messages + 1):
                yield Action("Send", (("message", message),)), s._replace(sent=(*s.sent, message))

    def receive(self, s: State) -> Steps:
        """A reader gets its next message. One that is gone may, while nobody knows."""
        for reader in self.readers:
            wanted = self.wanted(s, reader)
            count = len(s.got[reader])
            if s.reader[reader] in (IN, DYING) and count < len(wanted):
                got = replaced(s.got, reader, (*s.got[reader], wanted[count]))
                yield Action("Receive", (("rank", reader),)), s._replace(got=got)

    def _become(self, s: State, name: str, before: str, after: str) -> Steps:
        for reader in self.readers:
            if s.reader[reader] == before:
                life = replaced(s.reader, reader, after)
                yield Action(name, (("rank", reader),)), s._replace(reader=life)

    def recover(self, s: State) -> Steps:
        """A lost reader comes back, and misses what the others have begun."""
        for action, after in self._become(s, "Recover", LOST, IN):
            reader = action.params[0][1]
            begun = {m for m in self.pending(s) if any(m in ids for ids in s.got) and m not in s.got[reader]}
            missed = s.skipped[reader] | begun
            yield action, after._replace(skipped=replaced(s.skipped, reader, missed))

    def clear(self, s: State) -> Steps:
        """What nobody has got is taken back."""
        if s.epoch < self.config.clears:
            idle = {m for m in self.pending(s) if not any(m in ids for ids in s.got)}
            yield Action("Clear"), s._replace(epoch=s.epoch + 1, dropped=s.dropped | idle)

    def writer_comes_or_goes(self, s: State) -> Steps:
        """Whether anybody can send."""
        yield Action("WriterComesOrGoes"), s._replace(writer=not s.writer)
