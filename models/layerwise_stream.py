"""Layer-wise sending as it looks from outside (``tla/layerwise/LayerStream.tla``), and how the tables look so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from models import layerwise
from models.kernel import Action, Model, Step, replaced

__all__ = ("LayerStream", "State", "image", "stream_of")


class State(NamedTuple):
    """How many layers of each task each rank has sent, and how many tasks it has closed: the first ones."""

    out: tuple[tuple[int, ...], ...]
    closed: tuple[int, ...]


class LayerStream(Model[State]):
    """Next-state relation."""

    def __init__(self, ranks: int, number: int, layers: int) -> None:
        self.ranks, self.number, self.layers = ranks, number, layers
        self.name = "stream of layers"
        self.actions = {"Send": self.send, "Close": self.close}
        self.invariants = {}
        self.action_properties = {}
        self.sometimes = {}
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """Nothing is sent."""
        return (State(((0,) * self.number,) * self.ranks, (0,) * self.ranks),)

    def send(self, s: State) -> Iterator[Step[State]]:
        """Layers of a task that is not closed, in order."""
        for rank, row in enumerate(s.out):
            for task in range(s.closed[rank], self.number):
                for layers in range(row[task] + 1, self.layers + 1):
                    now = replaced(row, task, layers)
                    out = replaced(s.out, rank, now)
                    yield Action("Send", (("r", rank), ("i", task + 1))), s._replace(out=out)

    def close(self, s: State) -> Iterator[Step[State]]:
        """The next task is closed."""
        for rank, count in enumerate(s.closed):
            if count < self.number:
                closed = replaced(s.closed, rank, count + 1)
                yield Action("Close", (("r", rank),)), s._replace(closed=closed)


def stream_of(config: layerwise.Config) -> LayerStream:
    """Return what the tables refine under a configuration."""
    return LayerStream(config.ranks, len(config.infos), config.layers)


def image(config: layerwise.Config) -> Callable[[layerwise.State], State]:
    """Return the mapping of the tables' states."""

    def of(s: layerwise.State) -> State:
        rows = []
        for tasks, done in zip(s.tasks, s.done, strict=True):
            sent = {x.task: x.sent for x in tasks} | {x.task: x.sent for x in done}
            rows.append(tuple(sent.get(task, 0) for task in config.infos))
        return State(tuple(rows), tuple(map(len, s.done)))

    return of
