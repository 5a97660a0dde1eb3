"""Drives a queue whose items go through a ring by the labels of dispatch's model: the same handles, the same model.

A ring has no place in which calls wait: so one put at a time may have to, and the calls that gave up have no number.
Batches are numbered in the order in which they were published.
"""

from __future__ import annotations

from typing import Any

from fdcomm import EngineWorkerQueue
from models.dispatch_state import LIVE, LOST, Config
from models.kernel import Action
from tests.conformance.host_driver import Channels, HostDriver, same

__all__ = ("PRODUCERS", "RingChannels", "RingDriver")

PRODUCERS = -1


class RingChannels(Channels):
    """A host with many replicas, whose items go through rings.

    ``remote`` ranks take part through the host; with PRODUCERS in it so does everybody else.
    """

    def __init__(self, ranks: int, depth: int, count: int, remote: frozenset[int] = frozenset()) -> None:
        self._remote = remote
        super().__init__(ranks, depth, count)

    def _server(self) -> EngineWorkerQueue:
        return self._start(data_path="ring")

    def client(self, dp: int, client_id: int, role: Any) -> EngineWorkerQueue:
        """Open a handle to a channel."""
        path = "host" if (client_id if role == "reader" else PRODUCERS) in self._remote else "auto"
        return self._open(dp, client_id, role, data_path=path)

    def judge(self) -> dict[str, int]:
        """Nothing is recorded."""
        return {}


class RingDriver(HostDriver):
    """One fresh channel and handles to it; ``state`` is the model's."""

    def __init__(self, channels: Channels, config: Config) -> None:
        self._numbers: list[int] = []  # the model's numbers of the batches, in the order of publication
        super().__init__(channels, config)
        if not self.observer._welcome["rings"]:
            raise AssertionError("the items do not go through a ring")

    def follows(self, action: Action) -> bool:
        """See :class:`HostDriver`.

        The order of puts that wait together is not promised; and what a clear takes back behind a message that some
        rank has holds its place until all ranks have that one.
        """
        if action.name in ("ClearRank", "ClearProducer"):
            return len({bool(entry.taken) for entry in self.state.log}) < 2
        return action.name != "CallPut" or not self.state.waiting

    def compare(self) -> None:
        """Raise AssertionError when the ring is not what the model's state says."""
        self._note()
        state, seen = self.state, self.observer.statistics()
        number = {0: 0, **{id_: place for place, id_ in enumerate(self._numbers, 1)}}
        ranks = range(len(state.status))
        unread = tuple((number[e.id], tuple(r for r in ranks if r not in e.taken)) for e in state.log)
        same("unread", seen.unread, unread)
        same("num_tasks", self.observer.num_tasks(), len(state.log))
        same("puts", seen.puts, len(self._numbers))
        same("epoch", seen.epoch, state.epoch)
        same("live", seen.live, tuple(r for r in ranks if state.status[r] == LIVE))
        same("lost", seen.lost, tuple(r for r in ranks if state.status[r] == LOST))
        same("exist", self.observer.exist_tasks(), state.exist)
        same("items", self.observer.tasks[:], [entry.id for entry in state.log])
        for rank, reader in self.readers.items():
            next_id = next((entry.id for entry in state.log if rank not in entry.taken), 0)
            same(f"ticket of rank {rank}", reader.task_ticket(), number[next_id])

    def _arrives(self, id_: int) -> None:
        """Nobody sees a put arrive that has to wait."""

    def _note(self) -> None:
        for entry in self.state.log:
            if entry.id not in self._numbers:
                self._numbers.append(entry.id)
