"""The published cache messager's look-up of tasks, in its three versions (``tla/layerwise/LayerwiseShipped.tla``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from models.kernel import Action, Model, Step, replaced
from models.liveness import Fair, LeadsTo

__all__ = ("RACES", "Config", "LayerwiseShipped", "State", "every_sent", "fairness")


class State(NamedTuple):
    """All variables of the spec."""

    heard: tuple[int, ...]
    taken: tuple[int, ...]
    infos: tuple[frozenset[int], ...]
    pending: tuple[frozenset[int], ...]
    batches: tuple[tuple[frozenset[int], ...], ...]


@dataclass(frozen=True)
class Config:
    """Constants of the spec."""

    ranks: int = 2
    messages: int = 1
    size: int = 2
    lost: frozenset[int] = frozenset()
    info_first: bool = False
    style: str = "split"

    def about(self, message: int) -> frozenset[int]:
        """Return the tasks of a message."""
        return frozenset(range(self.size * (message - 1) + 1, self.size * message + 1))

    def constants(self) -> dict[str, Any]:
        """Return the constants under their names in the spec."""
        return {
            "N": self.ranks,
            "Messages": self.messages,
            "Size": self.size,
            "Lost": self.lost,
            "InfoFirst": self.info_first,
            "Style": self.style,
        }


RACES: dict[str, tuple[Config, str]] = {
    "B14": (Config(), "SameBatches"),
    "B15": (Config(ranks=1, size=1, style="drop"), "EverySent"),
    "B16": (Config(ranks=1, messages=2, size=1, lost=frozenset({1}), style="wait"), "EverySent"),
}
"""Race -> the environment in which it shows, and what it breaks."""


class LayerwiseShipped(Model[State]):
    """Next-state relation."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        self.name = f"published messager, {self.config.style}"
        self.actions = {"Message": self.message, "Info": self.info, "Take": self.take, "Retry": self.retry}
        self.invariants = {"SameBatches": self.same_batches}
        self.action_properties = {}
        self.sometimes = {"something is sent": lambda s: any(s.batches)}
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """Nothing has come."""
        n = self.config.ranks
        nothing: frozenset[int] = frozenset()
        return (State((0,) * n, (0,) * n, (nothing,) * n, (nothing,) * n, ((),) * n),)

    def message(self, s: State) -> Iterator[Step[State]]:
        """The next message comes."""
        for r in range(self.config.ranks):
            coming = s.heard[r] + 1
            if coming > self.config.messages:
                continue
            if not self.config.info_first or self.config.about(coming) <= s.infos[r]:
                yield _of("Message", r), s._replace(heard=replaced(s.heard, r, coming))

    def info(self, s: State) -> Iterator[Step[State]]:
        """The next info comes."""
        every = range(1, self.config.messages * self.config.size + 1)
        for r in range(self.config.ranks):
            rest = [task for task in every if task not in s.infos[r] | self.config.lost]
            if rest:
                yield _of("Info", r), s._replace(infos=replaced(s.infos, r, s.infos[r] | {rest[0]}))

    def take(self, s: State) -> Iterator[Step[State]]:
        """The thread takes the next message."""
        for r in range(self.config.ranks):
            if s.taken[r] == s.heard[r]:
                continue
            tasks = self.config.about(s.taken[r] + 1)
            ready = tasks & s.infos[r]
            if self.config.style == "wait" and ready != tasks:
                continue
            pending = s.pending[r] | (tasks - ready) if self.config.style == "split" else s.pending[r]
            yield (
                _of("Take", r),
                _sent(s, r, ready)._replace(
                    taken=replaced(s.taken, r, s.taken[r] + 1), pending=replaced(s.pending, r, pending)
                ),
            )

    def retry(self, s: State) -> Iterator[Step[State]]:
        """The infos of tasks that were put aside have come."""
        for r in range(self.config.ranks):
            if found := s.pending[r] & s.infos[r]:
                yield _of("Retry", r), _sent(s, r, found)._replace(pending=replaced(s.pending, r, s.pending[r] - found))

    def same_batches(self, s: State) -> bool:
        """The ranks make the same collective calls."""
        return all(a == b for one in s.batches for other in s.batches for a, b in zip(one, other, strict=False))


def every_sent(config: Config) -> list[LeadsTo[State]]:
    """A task is sent when its first layer is computed and its info is there."""

    def of(r: int, message: int, task: int) -> LeadsTo[State]:
        return LeadsTo(
            f"EverySent({r}, {task})",
            lambda s: s.heard[r] >= message and task in s.infos[r],
            lambda s: any(task in batch for batch in s.batches[r]),
        )

    messages = range(1, config.messages + 1)
    return [of(r, m, task) for r in range(config.ranks) for m in messages for task in sorted(config.about(m))]


def fairness(config: Config) -> list[Fair[State]]:
    """Infos that are not lost come, and the thread goes on."""

    def is_(name: str, r: int) -> Fair[State]:
        return Fair(f"{name}({r})", lambda s, a: a == _of(name, r))

    return [is_(name, r) for r in range(config.ranks) for name in ("Info", "Take", "Retry")]


def _sent(s: State, r: int, some: frozenset[int]) -> State:
    return s._replace(batches=replaced(s.batches, r, (*s.batches[r], some))) if some else s


def _of(name: str, r: int) -> Action:
    return Action(name, (("rank", r),))
