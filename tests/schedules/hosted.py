"""The shipping host service on a controlled runtime: what the testbeds of the single protocols stand on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from fdcomm import EngineCacheQueue, EngineWorkerQueue
from fdcomm.host.service import HostConfig, HostService, words_needed
from fdcomm.testing import ControlledRuntime, Scenario
from fdcomm.trace import FORMAT, Recorder
from models.acceptance import Verdict
from tests.conformance.service_driver import hello

__all__ = ("Accept", "HandleBed", "HostBed", "judge")

Q = TypeVar("Q", EngineWorkerQueue, EngineCacheQueue)
Accept = Callable[[Iterable[str]], list[Verdict]]

_judged: dict[tuple[Accept, tuple[str, ...]], str] = {}


class Recorded(Recorder):
    """Keeps the events: an execution has no file."""

    def __init__(self) -> None:
        self.events: list[Mapping[str, Any]] = []

    def write(self, event: Mapping[str, Any]) -> None:
        self.events.append(event)

    def close(self) -> None:
        self.events.clear()


def judge(accept: Accept, events: Iterable[Mapping[str, Any]]) -> None:
    """Have the model judge one channel's events. Many executions record the same ones, which are judged once."""
    lines = tuple(json.dumps({"v": FORMAT, **event}) for event in events)
    if (accept, lines) not in _judged:
        (verdict,) = accept(lines)
        _judged[accept, lines] = "" if verdict.accepted else f"event {verdict.events}: {verdict.reason}"
    assert not _judged[accept, lines], f"the model refuses the run: {_judged[accept, lines]}"


class HostBed:
    """A host service that runs one channel only, and ``others`` where that needs them.

    ``invariant`` looks at it after each step; at the end ``accept`` judges the recorded events: each execution must be
    a behaviour of the specification, results included.
    """

    def __init__(
        self,
        runtime: ControlledRuntime,
        config: HostConfig,
        protocol: str,
        accept: Accept,
        is_connected: Callable[[int], bool] = lambda session: True,
        others: tuple[str, ...] = (),
    ) -> None:
        self.runtime = runtime
        self.protocol = protocol
        self.recorder = Recorded()
        self.words = runtime.words(words_needed(config))
        self.service = HostService(
            config, runtime, self.words, recorder=self.recorder, is_connected=is_connected, only=(protocol, *others)
        )
        self._accept = accept

    def session(self, client_id: int = 0, role: str | None = None) -> int:
        """Open a session."""
        config = self.service.config
        return self.service.open_session(hello(config.tp_size, client_id, role, kind=config.kind))["session"]

    def scenario(self, tasks: Mapping[str, Callable[[], None]], final: Callable[[], None]) -> Scenario:
        """Return the scenario of these tasks, with the checks of this testbed."""

        def at_the_end() -> None:
            final()
            self.judge()

        return Scenario(tasks, invariant=self.invariant, final=at_the_end)

    def invariant(self) -> None:
        """What must hold between any two critical sections."""

    def judge(self) -> None:
        """Have the model judge what was recorded."""
        judge(self._accept, [event for event in self.recorder.events if event["protocol"] == self.protocol])


class HandleBed(HostBed):
    """The same with queues as handles, whose connections may end. Each scenario closes them."""

    def __init__(
        self,
        runtime: ControlledRuntime,
        config: HostConfig,
        protocol: str,
        accept: Accept,
        others: tuple[str, ...] = (),
    ) -> None:
        self.gone: set[int] = set()
        self._handles: list[EngineWorkerQueue | EngineCacheQueue] = []
        super().__init__(runtime, config, protocol, accept, self._is_connected, others)

    def _kept(self, handle: Q) -> Q:
        self._handles.append(handle)
        return handle

    def lose(self, queue: EngineWorkerQueue | EngineCacheQueue) -> None:
        """End the connection of a handle, and have the host notice."""
        session = queue._welcome["session"]
        self.runtime.access("connections", change=True)
        self.gone.add(session)
        self.service.lose_session(session)

    def _is_connected(self, session: int) -> bool:
        self.runtime.access("connections", change=False)
        return session not in self.gone

    def close(self) -> None:
        """Close every handle."""
        for handle in self._handles:
            handle.close()

    def scenario(self, tasks: Mapping[str, Callable[[], None]], final: Callable[[], None]) -> Scenario:
        return replace(super().scenario(tasks, final), close=self.close)
