"""Drives a channel of a real host by the model's labels, through handles as users have them.

A real host answers what it can answer: after each step the model takes the answers that are due (PutTasks, PutLost),
and the fence that follows a crash. What the host then says of itself must be what the model says.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from fdcomm import EngineWorkerQueue
from fdcomm.errors import ClosedError, CommTimeoutError, FdcommError, PeerLostError
from models.dispatch import Dispatch
from models.dispatch_state import LIVE, LOST, Config, State
from models.dispatch_trace import accept_file
from models.kernel import Action
from tests.conformance.backends import lose
from tests.conformance.waiting import Background, until

__all__ = ("Channels", "HostDriver", "same", "settle")

_LONG_S = 60.0


class Channels:
    """A host with many replicas, each a fresh channel for one run. Its events are recorded."""

    def __init__(self, ranks: int, depth: int, count: int, transport: Any = "auto") -> None:
        self.ranks, self.depth, self.count = ranks, depth, count
        self._used = 0
        self._folder = tempfile.TemporaryDirectory(prefix="fdcomm-channels-")
        self.trace = Path(self._folder.name) / "host.ndjson"
        self.transport = transport
        self.server = self._server()

    def _server(self) -> EngineWorkerQueue:
        return self._start(trace=self.trace)

    def _start(self, **options: Any) -> EngineWorkerQueue:
        return EngineWorkerQueue(
            ("0.0.0.0", 0),
            is_server=True,
            num_client=self.ranks,
            local_data_parallel_size=self.count,
            local_data_parallel_id=self.count - 1,
            depth=self.depth,
            transport=self.transport,
            **options,
        )

    def take(self) -> int:
        """Return a channel that nobody has used. The last one is the server's own."""
        if self._used == self.count - 1:
            raise RuntimeError(f"all {self.count} channels are used")
        self._used += 1
        return self._used - 1

    def client(self, dp: int, client_id: int, role: Any) -> EngineWorkerQueue:
        """Open a handle to a channel."""
        return self._open(dp, client_id, role)

    def _open(self, dp: int, client_id: int, role: Any, **options: Any) -> EngineWorkerQueue:
        return EngineWorkerQueue(
            ("0.0.0.0", self.server.get_server_port()),
            num_client=self.ranks,
            client_id=client_id,
            local_data_parallel_id=dp,
            role=role,
            transport=self.transport,
            **options,
        )

    def judge(self) -> dict[str, int]:
        """Have the model judge what was recorded; return how often each action occurred."""
        counts: dict[str, int] = {}
        for verdict in accept_file(str(self.trace), only=("dispatch",)):
            if not verdict.accepted:
                raise AssertionError(str(verdict))
            for name, count in verdict.counts.items():
                counts[name] = counts.get(name, 0) + count
        return counts

    def close(self) -> None:
        """End the host."""
        self.server.close()
        self._folder.cleanup()


def settle(model: Dispatch, state: State) -> tuple[State, list[Action]]:
    """Return the state after all answers that are due, and these."""
    answers: list[Action] = []
    while True:
        due = [*model.put_tasks(state), *model.put_lost(state)]
        if not due:
            return state, answers
        action, state = due[0]
        answers.append(action)


class HostDriver:
    """One fresh channel and handles to it; ``state`` is the model's."""

    def __init__(self, channels: Channels, config: Config) -> None:
        self.model = Dispatch(config)
        (self.state,) = self.model.initial()
        self.channels = channels
        self.dp = channels.take()
        self.observer = channels.client(self.dp, 0, "producer")
        self.producers = {p: channels.client(self.dp, 0, "producer") for p in range(config.producers)}
        self.readers: dict[int, EngineWorkerQueue] = {}
        self.waiting: dict[int, Background] = {}

    def follows(self, action: Action) -> bool:
        """Return True when this driver can take an action that the model allows now."""
        return True

    def can(self, action: Action) -> bool:
        """Return True when the model allows the action now."""
        return any(candidate == action for candidate, _ in self.model.actions[action.name](self.state))

    def take(self, action: Action) -> None:
        """Take a step that the model allows, with all that must follow, and compare."""
        name, number = action.name, action.params[0][1]
        self._advance(action)
        if name == "Join":
            self.readers[number] = self.channels.client(self.dp, number, "reader")
        elif name == "Leave":
            self.readers.pop(number).close()
        elif name == "Connect":
            self.producers[number] = self.channels.client(self.dp, 0, "producer")
        elif name == "Disconnect":
            self.producers.pop(number).close()
        elif name == "Crash":
            self._lose(self.readers.pop(number), Action("Fence", action.params))
        elif name == "CrashProducer":
            mine = [call.id for call in self.state.waiting if call.producer == number]
            self._lose(self.producers.pop(number), Action("FenceProducer", action.params))
            for id_ in mine:
                self._ends(id_, ClosedError)
        elif name == "CallPut":
            self._call_put(number)
        elif name == "GetTasks":
            self._get(number)
        else:
            (self.readers if name == "ClearRank" else self.producers)[number].clear_data()
        self.settle()

    def put_in_vain(self, producer: int, *, lost: bool) -> None:
        """CallPut with PutLost or PutTimeout: a put with no time to wait, where it cannot be served."""
        self._advance(Action("CallPut", (("producer", producer), ("id", self.state.calls + 1))))
        last = (("producer", producer), ("id", self.state.calls))
        self._advance(Action("PutLost" if lost else "PutTimeout", last))
        try:
            self.producers[producer].put_tasks(self.state.calls, timeout=0.0)
        except (PeerLostError, CommTimeoutError) as error:
            same("the error", type(error), PeerLostError if lost else CommTimeoutError)
            status, log = self.state.status, self.state.log
            gone = tuple(rank for rank, what in enumerate(status) if what == LOST)
            late = tuple(rank for rank in range(len(status)) if log and rank not in log[0].taken)
            same("missing", error.missing, gone if lost else late)
        else:
            raise AssertionError("a put that cannot be served has returned")
        self.settle()

    def settle(self) -> None:
        """Wait for the answers that are due, then compare the host with the model."""
        self.state, answers = settle(self.model, self.state)
        for action in answers:
            if action.params[1][1] in self.waiting:
                self._ends(action.params[1][1], None if action.name == "PutTasks" else PeerLostError)
        self.compare()

    def compare(self) -> None:
        """Raise AssertionError when the host's own view is not the model's state."""
        state, seen = self.state, self.observer.statistics()
        ranks = range(len(state.status))
        unread = tuple((e.id, tuple(r for r in ranks if r not in e.taken)) for e in state.log)
        same("unread", seen.unread, unread)
        same("num_tasks", self.observer.num_tasks(), len(state.log))
        same("waiting_puts", seen.waiting_puts, len(state.waiting))
        same("puts", seen.puts, state.calls)
        same("epoch", seen.epoch, state.epoch)
        same("live", seen.live, tuple(r for r in ranks if state.status[r] == LIVE))
        same("lost", seen.lost, tuple(r for r in ranks if state.status[r] == LOST))
        same("exist", self.observer.exist_tasks(), state.exist)
        for rank, reader in self.readers.items():
            next_id = next((entry.id for entry in state.log if rank not in entry.taken), 0)
            same(f"ticket of rank {rank}", reader.task_ticket(), next_id)

    def close(self) -> None:
        """Close all handles; calls that still wait end with ClosedError."""
        for handle in (*self.readers.values(), *self.producers.values(), self.observer):
            handle.close()
        for id_ in list(self.waiting):
            self._ends(id_, ClosedError)

    # -- helpers -------------------------------------------------------------------------------------------------

    def _advance(self, action: Action) -> None:
        steps = self.model.actions[action.name](self.state)
        self.state = next(after for candidate, after in steps if candidate == action)

    def _call_put(self, producer: int) -> None:
        id_ = self.state.calls
        handle = self.producers[producer]
        self.waiting[id_] = Background(lambda: handle.put_tasks(id_, timeout=_LONG_S))
        self._arrives(id_)

    def _arrives(self, id_: int) -> None:
        until(lambda: self.observer.statistics().puts == id_, f"the arrival of put call {id_}")

    def _get(self, rank: int) -> None:
        batches, all_read = self.readers[rank].get_tasks()
        id_ = self.state.got[rank][-1]
        same(f"what rank {rank} got", (batches, all_read), ([id_], all(e.id != id_ for e in self.state.log)))

    def _lose(self, handle: EngineWorkerQueue, fence: Action) -> None:
        before = self.observer.statistics().sessions
        lose(handle)
        until(lambda: self.observer.statistics().sessions < before, str(fence))
        self._advance(fence)

    def _ends(self, id_: int, kind: type[FdcommError] | None) -> None:
        error = self.waiting.pop(id_).error()
        if not (error is None if kind is None else isinstance(error, kind)):
            raise AssertionError(f"put call {id_} ended with {error!r} instead of {kind.__name__ if kind else 'None'}")


def same(what: str, found: object, wanted: object) -> None:
    """Raise AssertionError unless both are equal."""
    if found != wanted:
        raise AssertionError(f"{what}: the host says {found}, the model says {wanted}")
