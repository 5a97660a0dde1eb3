"""Races of clearing and restoring: the shipped words, step by step, and a real host whose parts the scenario plays."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from fdcomm import EngineWorkerQueue
from fdcomm.errors import StaleReportError
from fdcomm.status import StatusCoordinator, StatusResult
from fdcomm.status_part import StatusOrder, StatusPart
from tests.conformance.waiting import Background
from tests.races.pipes import WATCHDOG_S
from tests.races.race import Race, wait_until
from tests.races.shipped_status import ShippedStatus

__all__ = ("Party", "StatusOurs", "StatusRace")

Party = tuple[str, int]
Declared = tuple[tuple[str, int, int], ...]
ALL: tuple[Party, ...] = (
    *(("model_weights", 0), ("model_weights", 1)),
    *(("kv_cache", 0), ("kv_cache", 1)),
    ("prefix_tree", 0),
)


class StatusOurs:
    """fdcomm, with a real host process: a handle for the API server, and one for each part.

    ``declared`` has the components (name, stage, parts); by default they are those of FastDeploy.
    """

    def __init__(self, declared: Declared = ()) -> None:
        self._stack = contextlib.ExitStack()
        self.server = self._stack.enter_context(EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=2))
        self.coordinator = StatusCoordinator(self.server)
        self.coordinator.declare(declared or None)
        self.queues: dict[Party, EngineWorkerQueue] = {}
        self.parts: dict[Party, StatusPart] = {}
        named = tuple((name, part) for name, _, parts in declared for part in range(parts))
        for party in named or ALL:
            self.start(party)

    def __enter__(self) -> StatusOurs:
        return self

    def __exit__(self, *exc: object) -> None:
        self._stack.close()

    def start(self, party: Party) -> None:
        """Start the part's process, or start it again."""
        name, part = party
        queue = self._stack.enter_context(EngineWorkerQueue(self.server.address, num_client=2, client_id=part))
        self.queues[party], self.parts[party] = queue, StatusPart(queue, name)
        assert self.parts[party].take() is None

    def lose(self, party: Party) -> None:
        """The part's connection ends as with its process, and the host has noticed."""
        self.queues.pop(party)._release(goodbye=False)
        name, part = party
        wait_until("the fence", lambda: part in self.coordinator.statistics()["components"][name]["lost"])

    def ask(self, goal: str, timeout: float = WATCHDOG_S) -> Background:
        """Ask as the API server does, in a thread."""
        call = self.coordinator.clear if goal == "clear" else self.coordinator.update
        return Background(lambda: call(timeout=timeout))

    def order(self, party: Party) -> StatusOrder:
        """Take what the part is asked to do."""
        order = self.parts[party].take(timeout=WATCHDOG_S)
        assert order is not None
        return order

    def serve(self, asking: Background, without: Collection[Party] = (), fails: Collection[Party] = ()) -> None:
        """Let the parts do what is asked until the asking call has ended."""
        while asking.is_running():
            for party in self.parts:
                order = None if party in without else self.parts[party].take()
                if order is None:
                    continue
                with contextlib.suppress(StaleReportError):
                    order.fail("on purpose") if party in fails else order.done()

    def done(self, goal: str) -> StatusResult:
        """Ask, and let all parts do it."""
        asking = self.ask(goal)
        self.serve(asking)
        result: StatusResult = asking.value()
        return result

    def words(self) -> list[int]:
        """Return the three words."""
        return list(self.coordinator.words().values())

    def works(self) -> str:
        """Return what goes wrong in a clear and an update of everybody, or ""."""
        for goal, word in (("clear", -2), ("update", 0)):
            if not self.done(goal).ok or self.words() != [word] * 3:
                return f"afterwards a {goal} leaves the words at {self.words()}"
        return ""


@dataclass(frozen=True)
class StatusRace(Race):
    """A race of the words."""

    shipped: Callable[[Any], str]
    ours: Callable[[Any], str]
    declared: Declared = ()

    def on_shipped(self) -> str:
        """Return what went wrong on the shipped words."""
        with ShippedStatus(workers=self.ranks) as variant:
            return self.shipped(variant)

    def on_ours(self) -> str:
        """Return what went wrong on ours."""
        with StatusOurs(self.declared) as variant:
            return self.ours(variant)
