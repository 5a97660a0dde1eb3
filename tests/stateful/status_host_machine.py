"""Long random runs of the components of a real host beside the model: handles, connections, and waits in threads."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.stateful import initialize

from fdcomm import EngineWorkerQueue
from fdcomm.errors import CommTimeoutError, StaleReportError, StatusBusyError, StatusCancelledError
from fdcomm.status import StatusCoordinator
from fdcomm.status_part import StatusOrder, StatusPart
from models.kernel import Action
from models.status import State
from models.status_state import LIVE, LOST
from models.status_trace import accept_file
from tests.conformance.waiting import Background, until
from tests.stateful.beside import judged, run_machine
from tests.stateful.status_rules import FOLLOWS, Rules, unbounded

__all__ = ("run_host",)

_LONG_S = 60.0
NAMES = ("model_weights", "kv_cache", "prefix_tree")
Party = tuple[int, int]


class Host:
    """A host with a replica for each example."""

    def __init__(self, replicas: int) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="fdcomm-status-")
        self.trace = Path(self._folder.name) / "host.ndjson"
        self._next = 0
        self.server = EngineWorkerQueue(
            ("0.0.0.0", 0), is_server=True, num_client=2, local_data_parallel_size=replicas, trace=self.trace
        )

    def replica(self) -> int:
        """Return a fresh one."""
        self._next += 1
        return self._next

    def client(self, dp: int) -> EngineWorkerQueue:
        """Open a handle."""
        return EngineWorkerQueue(
            ("0.0.0.0", self.server.get_server_port()), num_client=2, client_id=0, local_data_parallel_id=dp
        )

    def judge(self) -> Counter[str]:
        """Have the model judge all that was recorded; return how often each action occurred."""
        return judged(accept_file(str(self.trace)))

    def close(self) -> None:
        """End the host."""
        self.server.close()
        self._folder.cleanup()


class HostMachine(Rules):
    """The components of one replica against the unbounded model.

    What a host does in one call is one step here: a part joins by its first take, which takes what there is, and a
    crash brings its fence.
    """

    host: Host

    @initialize()
    def start(self) -> None:
        self.model = unbounded()
        (self.state,) = self.model.initial()
        self.dp = type(self).host.replica()
        self.engine = type(self).host.client(self.dp)
        self.coordinator = StatusCoordinator(self.engine)
        self.coordinator.declare()
        self.handles: dict[Party, EngineWorkerQueue] = {}
        self.parts: dict[Party, StatusPart] = {}
        self.orders: dict[Party, StatusOrder] = {}
        self.asking: Background | None = None

    def fence(self, component: int, part: int) -> None:
        """Not by itself."""

    def take(self, name: str, **params: int) -> bool:
        if name == "Ask" and self.asking is not None:
            with pytest.raises(StatusBusyError):
                self.coordinator.clear(timeout=0)
        done = super().take(name, **params)
        if done and name == "Crash":
            super().take("Fence", **params)
        if done and name == "Join" and self.orders.get((params["component"], params["part"])) is not None:
            self.went(*self._only("Take", params))
        return done

    def act(self, action: Action, after: State) -> None:
        name, party = action.name, (action.param("component") or 0, action.param("part") or 0)
        if name == "Join":
            self.handles[party] = type(self).host.client(self.dp)
            self.parts[party] = StatusPart(self.handles[party], NAMES[party[0]], party[1])
            order = self.parts[party].take()
            if order is not None:
                self.orders[party] = order
        elif name == "Take":
            order = self.parts[party].take()
            assert order is not None
            assert (order.number, order.goal) == (after.asked, after.goals[-1])
            self.orders[party] = order
        elif name == "Report":
            self._report(party, ok=bool(action.param("ok")), counts=after.reports != self.state.reports)
        elif name == "Crash":
            self.orders.pop(party, None)
            self.handles.pop(party)._release(goodbye=False)
        elif name == "Fence":
            until(lambda: party[1] in self._there(party[0])["lost"], "the fence")
        elif name == "Ask":
            call = {"clear": self.coordinator.clear, "update": self.coordinator.update}[after.goals[-1]]
            self.asking = Background(lambda: call(timeout=_LONG_S))
            until(lambda: self.coordinator.statistics()["asked"] == after.asked, "the request")
        elif name == "Expire":
            assert self.coordinator.cancel()

    def follow(self) -> None:
        while True:
            due = [(step, to) for name in FOLLOWS for step, to in self.model.actions[name](self.state)]
            if not due:
                break
            self.went(*due[0])
        if self.asking is not None and self.state.outcome[-1] != "open":
            self._answered(self.asking)
            self.asking = None
        self._compare()

    def _answered(self, asking: Background) -> None:
        outcome, error = self.state.outcome[-1], asking.error()
        if outcome == "late":
            assert isinstance(error, (StatusCancelledError, CommTimeoutError)), f"{error!r} instead of late"
            return
        result = asking.value()
        assert (result.number, result.goal, result.ok) == (self.state.asked, self.state.goals[-1], outcome == "done")
        assert bool(result.failed) == (outcome == "failed")

    def _report(self, party: Party, *, ok: bool, counts: bool) -> None:
        order = self.orders.pop(party)
        try:
            order.done() if ok else order.fail("on purpose")
        except StaleReportError:
            assert not counts, f"a report of {party} that counts was refused"
            return
        assert counts, f"a late report of {party} was taken"

    def _compare(self) -> None:
        if any(status == "dead" for row in self.state.status for status in row):
            return  # the fence is on its way
        for k, name in enumerate(NAMES):
            there, row = self._there(k), self.state.status[k]
            assert (there["word"], there["partial"]) == (self.state.word[k], self.state.partial[k]), name
            assert there["live"] == [p for p, status in enumerate(row) if status == LIVE], name
            assert there["lost"] == [p for p, status in enumerate(row) if status == LOST], name

    def _there(self, component: int) -> dict[str, Any]:
        there: dict[str, Any] = self.coordinator.statistics()["components"][NAMES[component]]
        return there

    def _only(self, name: str, params: dict[str, int]) -> tuple[Action, State]:
        wanted = Action(name, tuple(params.items()))
        return next((step, to) for step, to in self.model.actions[name](self.state) if step == wanted)

    def teardown(self) -> None:
        if hasattr(self, "engine"):
            for handle in (*self.handles.values(), self.engine):
                handle.close()
            if self.asking is not None:
                self.asking.error()


def run_host(options: settings) -> Counter[str]:
    """Run the machine; return how often each action was recorded, after the model's judgement of the whole record."""
    host = Host(replicas=50 + 6 * options.max_examples)  # invalid examples use one too
    try:

        class Machine(HostMachine):
            pass

        Machine.host = host
        run_machine(Machine, options)
        return host.judge()
    finally:
        host.close()
