"""Races of readiness: the shipped words, step by step, and a real host whose parts the scenario plays, or starts."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fdcomm import CommTimeoutError, EngineWorkerQueue, FdcommError, PartHealth, Readiness
from tests.conformance.waiting import Background
from tests.races.nursery import Born, born
from tests.races.pipes import WATCHDOG_S, read_line
from tests.races.race import Race, wait_until
from tests.races.shipped_readiness import ShippedReadiness

__all__ = ("COMPONENTS", "ReadinessOurs", "ReadinessRace", "health_of")

COMPONENTS: list[tuple[Any, ...]] = [("cache", 2), ("worker", 2, ["cache"])]


class ReadinessOurs:
    """fdcomm, with a real host process: a handle for the engine, and one for each part."""

    def __init__(self, components: Sequence[tuple[Any, ...]] = COMPONENTS) -> None:
        self._stack = contextlib.ExitStack()
        self.server = self._stack.enter_context(EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=2))
        self.engine = Readiness(self.server)
        self.engine.declare(components)
        self.queues: dict[tuple[str, int], EngineWorkerQueue] = {}

    def __enter__(self) -> ReadinessOurs:
        return self

    def __exit__(self, *exc: object) -> None:
        self._stack.close()

    def start(self, component: str, rank: int, *, limit: float | None = None) -> Readiness:
        """Start the part's process, or start it again: it is starting."""
        queue = EngineWorkerQueue(self.server.address, num_client=2, client_id=rank)
        self._stack.callback(queue.close)
        self.queues[component, rank] = queue
        part = Readiness(queue, limit=limit)
        part.starting(component, rank, stage="loading")
        return part

    def all_ready(self, component: str) -> list[Readiness]:
        """Start both parts of a component, ready."""
        parts = [self.start(component, rank) for rank in range(2)]
        for part in parts:
            part.ready()
        return parts

    def lose(self, component: str, rank: int) -> None:
        """The part's connection ends as with its process, and the host has noticed."""
        self.queues.pop((component, rank))._release(goodbye=False)
        wait_until("the fence", lambda: self.health(component, rank) == "lost")

    def health(self, component: str, rank: int) -> str:
        """Return the health of a part."""
        return health_of(self.engine.health(), component, rank)

    def wait(self, component: str, **options: Any) -> Background:
        """Wait in a thread, as a launcher does, and return when it does."""
        known = self.engine.statistics()["waits"]
        waiting = Background(lambda: self.engine.wait(component, timeout=WATCHDOG_S, **options))
        wait_until("the wait", lambda: self.engine.statistics()["waits"] > known)
        return waiting

    def refusal(self, *components: str) -> FdcommError | None:
        """Return what an API server hears before it accepts a request."""
        try:
            self.engine.check(*components)
        except FdcommError as error:
            return error
        return None

    @contextlib.contextmanager
    def process(self, component: str, rank: int, limit: float) -> Iterator[Born]:
        """Start a part in a process of its own, which says that it is ready and loops."""
        port = str(self.server.get_server_port())
        child = born("tests.races.readiness_child", port, component, str(rank), str(limit))
        try:
            assert read_line(child) == "ready"
            yield child
        finally:
            child.kill()
            child.wait()
            child.stdin.close()
            child.stdout.close()

    def stop(self, child: Born) -> None:
        """SIGSTOP."""
        os.kill(child.pid, signal.SIGSTOP)

    def go_on(self, child: Born) -> None:
        """SIGCONT."""
        os.kill(child.pid, signal.SIGCONT)

    def works(self, component: str) -> str:
        """Return what is wrong when both parts of a component are started anew, or ""."""
        for rank in range(2):
            if (component, rank) in self.queues:
                self.queues.pop((component, rank)).close()
        self.all_ready(component)
        error = self.refusal(component)
        return "" if error is None else f"afterwards {error}"


def health_of(parts: Sequence[PartHealth], component: str, rank: int) -> str:
    """Return the health of one of the parts."""
    return next(part.health for part in parts if (part.component, part.rank) == (component, rank))


@dataclass(frozen=True)
class ReadinessRace(Race):
    """A race of readiness."""

    shipped: Callable[[Any], str]
    ours: Callable[[Any], str]

    def on_shipped(self) -> str:
        """Return what went wrong on the shipped words."""
        with ShippedReadiness(self.ranks) as variant:
            return self.shipped(variant)

    def on_ours(self) -> str:
        """Return what went wrong on ours."""
        with ReadinessOurs() as variant:
            return self.ours(variant)


def names(error: FdcommError | None) -> Any:
    """Return which parts an error names, and as what."""
    return None if error is None else error.request


def is_late(error: FdcommError | None, *parts: tuple[str, int, str]) -> bool:
    """Return True when a wait has ended by its time limit, and names exactly these parts."""
    return isinstance(error, CommTimeoutError) and error.request == parts
