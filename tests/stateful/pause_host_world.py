"""A replica of a real host, its ranks and its clients, beside the model of pauses: steps, what follows, comparison."""

from __future__ import annotations

import contextlib
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, ClassVar

from hypothesis import event
from hypothesis.stateful import RuleBasedStateMachine, initialize

from fdcomm import EngineCacheQueue, Job, PauseControl
from fdcomm.core.pause import MODES
from fdcomm.errors import JobCancelledError, PauseEndedError
from models.kernel import Action
from models.pause import Config, Pause, State, still
from models.pause_state import ABORT, DEAD, LIVE, LOST
from tests.conformance.waiting import Background, until
from tests.stateful.beside import step_to

__all__ = ("CLIENTS", "RANKS", "RETURNS", "Host", "World")

RANKS, CLIENTS, JOBS = 2, 3, 2
RETURNS = ("PauseReturns", "PauseEnded", "ResumeReturns")


class Host:
    """A host with a replica for each example."""

    def __init__(self, replicas: int) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="fdcomm-pauses-")
        self.trace = Path(self._folder.name) / "host.ndjson"
        self._next = 0
        options: Any = {"num_client": RANKS, "local_data_parallel_size": replicas, "trace": self.trace}
        self.server = EngineCacheQueue(("0.0.0.0", 0), is_server=True, **options)

    def replica(self) -> int:
        """Return a fresh one."""
        self._next += 1
        return self._next

    def client(self, dp: int, rank: int, role: Any = None) -> EngineCacheQueue:
        """Open a handle."""
        return EngineCacheQueue(
            self.server.address, num_client=RANKS, client_id=rank, local_data_parallel_id=dp, role=role
        )

    def close(self) -> None:
        """End the host."""
        self.server.close()
        self._folder.cleanup()


class World(RuleBasedStateMachine):
    """Pauses of one replica against the unbounded model.

    Ranks take orders and report by themselves, and calls return by themselves: after each rule the model takes all
    that follows, and then the host and every rank must come to say what the model says.
    """

    host: ClassVar[Host]
    occurred: ClassVar[Counter[str]]

    @initialize()
    def start(self) -> None:
        everybody, callers = frozenset(range(RANKS)), frozenset(range(1, CLIENTS + 1))
        self.model = Pause(Config(RANKS, CLIENTS, JOBS, None, frozenset(range(3)), everybody, everybody, callers))
        (self.state,) = self.model.initial()
        self.dp = type(self).host.replica()
        self.handles: dict[int, EngineCacheQueue] = {}
        self.controls: dict[int, PauseControl] = {}
        self.jobs: dict[int, list[Job]] = {rank: [] for rank in range(RANKS)}
        self.parked: dict[int, list[tuple[Job, Background]]] = {rank: [] for rank in range(RANKS)}
        self.leaving: set[int] = set()
        self.clients: dict[int, EngineCacheQueue] = {}
        self.apis: dict[int, PauseControl] = {}
        self.calls: dict[int, tuple[str, Background]] = {}
        self.resuming: dict[int, Background] = {}  # calls whose order is still to come
        self.holding: dict[int, contextlib.ExitStack] = {}
        for client in range(1, CLIENTS + 1):
            self._open_client(client)
        self.observer = PauseControl(self.clients[1])

    def _open_client(self, client: int) -> None:
        self.clients[client] = type(self).host.client(self.dp, 0, "producer")
        self.apis[client] = PauseControl(self.clients[client])

    # -- steps of the model --------------------------------------------------------------------------------------

    def can(self, name: str, **params: int) -> bool:
        """Return True when the model allows the action now."""
        return step_to(self.model, self.state, Action(name, tuple(params.items()))) is not None

    def take(self, name: str, **params: int) -> None:
        """Take a step of the model."""
        action = Action(name, tuple(params.items()))
        after = step_to(self.model, self.state, action)
        assert after is not None, f"the host did {action}, which the model does not allow in {self.state}"
        self._went(action, after)

    def _went(self, action: Action, after: State) -> None:
        self.state = after
        event(action.name)
        self.occurred[action.name] += 1

    def settle(self) -> None:
        """Take all that follows by itself, see the calls return, and compare."""
        while True:
            due = [step for name in ("Take", "Quiet", *RETURNS) for step in self.model.actions[name](self.state)]
            if due:
                action, after = due[0]
                about = self.state.awaited[(action.param("client") or 1) - 1]
                self._went(action, after)
                if action.name in RETURNS:
                    self._returned(action, about)
                continue
            ready = [client for client in sorted(self.resuming) if self.can("CallResume", client=client)]
            if not ready:
                break
            self.take("CallResume", client=ready[0])
            self.calls[ready[0]] = ("resume", self.resuming.pop(ready[0]))
        self._see_released()
        self._compare()

    def _returned(self, action: Action, about: int) -> None:
        kind, call = self.calls.pop(action.param("client") or 0)
        if action.name == "PauseEnded":
            assert isinstance(call.error(), PauseEndedError)
        else:
            assert call.value() == {"pause": about, "resume": None, "cancel": True}[kind], action

    def _see_released(self) -> None:
        """Jobs at a checkpoint go on when the model says so, or are told to end."""
        for rank, parked in self.parked.items():
            if not parked or self.state.parked[rank]:
                continue
            aborted = self.state.gate[rank] == "shut" and self.state.told[rank] == ABORT
            for job, waiting in parked:
                assert isinstance(waiting.error(), JobCancelledError if aborted else type(None))
                self.jobs[rank].append(job)
            parked.clear()

    def _compare(self) -> None:
        wanted: list[Any] = []
        found: list[Any] = []

        def alike() -> bool:
            wanted[:], found[:] = self._expected(), self._found()
            return wanted == found

        try:
            until(alike, "what the model says")
        except RuntimeError as error:
            raise AssertionError(f"the model says {wanted}, and there is {found}") from error

    def _expected(self) -> list[Any]:
        s = self.state
        there = {rank for rank, status in enumerate(s.status) if status in (LIVE, DEAD)}
        missing = sorted(there - s.quiet) if s.phase == "pause" else []
        lists: list[Any] = [sorted(there), [rank for rank, status in enumerate(s.status) if status == LOST], missing]
        of_host = [s.order, s.phase, MODES[s.mode], still(s), *lists, len(s.holders)]
        gates = [
            (s.seen[rank], s.gate[rank], s.running[rank], s.parked[rank]) if rank in there else None
            for rank in range(RANKS)
        ]
        return [*of_host, len(self.calls) + len(self.resuming), *gates]

    def _found(self) -> list[Any]:
        view = self.clients[1]._view("pause", name="view")
        names = ("order", "phase", "mode", "still", "live", "lost")
        of_host = [*(view[name] for name in names), list(view["missing"]), view["holders"], view["waiting"]]
        gates: list[Any] = []
        for rank in range(RANKS):
            jobs = self.controls[rank]._jobs if rank in self.controls else None
            gate = None if jobs is None else jobs._gate
            gates.append(gate and (gate.order, "shut" if gate.shut else "open", gate.running, gate.parked))
        return [*of_host, *gates]

    def teardown(self) -> None:
        if not hasattr(self, "observer"):
            return
        for holding in self.holding.values():
            holding.close()
        for handle in (*self.handles.values(), *self.clients.values()):
            handle._release(goodbye=False)
        for _, call in self.calls.values():
            call.error()
        for waiting in (*self.resuming.values(), *(each for row in self.parked.values() for _, each in row)):
            waiting.error()
