"""The shipping host's gate on a controlled runtime, whose recorded runs the model judges."""

from __future__ import annotations

import json
import pickle
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from fdcomm.host.gate_channel import GateChannel
from fdcomm.host.service import PROTOCOL_VERSION, Hello, HostConfig, HostService, words_needed
from fdcomm.testing import ControlledRuntime, Scenario
from fdcomm.trace import FORMAT, Recorder
from models.dispatch_trace import accept

__all__ = ("GateBed",)

GATE = "send_cache"
_judged: dict[tuple[str, ...], str] = {}


class _Memory(Recorder):
    def __init__(self) -> None:
        self.events: list[Mapping[str, Any]] = []

    def write(self, event: Mapping[str, Any]) -> None:
        self.events.append(event)

    def close(self) -> None:
        self.events.clear()


class GateBed:
    """A host service with one gate of two ranks; ``final`` has the model judge what was recorded."""

    def __init__(self, runtime: ControlledRuntime, capacity: int = 64, max_late: int = 256) -> None:
        self.runtime = runtime
        config = HostConfig(2)
        self.recorder = _Memory()
        words = runtime.words(words_needed(config))
        self.service = HostService(config, runtime, words, recorder=self.recorder, only=(GATE,))
        channel = self.service.channel(GATE)
        assert isinstance(channel, GateChannel)
        self.core = channel._core
        self.core.capacity = capacity
        self.core.late = [deque(maxlen=max_late) for _ in range(2)]
        opening = dict(self.recorder.events[0])
        self.recorder.events[0] = opening | {"capacity": capacity, "max_late": max_late}
        self.ranks = [self.session(0), self.session(1)]
        self.engine = self.session(-1)

    def session(self, client_id: int) -> int:
        """Open a session."""
        role = "producer" if client_id < 0 else None
        hello = Hello(
            version=PROTOCOL_VERSION, kind="worker", num_client=2, client_id=client_id, dp_rank=0, role=role, pid=0
        )
        return self.service.open_session(hello)["session"]

    def put(self, rank: int, key: object, timeout: float | None = None, attempt: int = 1) -> bool:
        """Answer; the payload says for whom, for what and for which attempt."""
        payload = pickle.dumps((rank, key, attempt))
        all_put: bool = self.service.act(self.ranks[rank], GATE, "put_answer", key, payload, timeout, "put")
        return all_put

    def collect(self, timeout: float | None = None, limit: float | None = None, session: int = 0) -> Any:
        """Return ``(key, attempt)`` of the next round, after looking whether its answers belong together."""
        answers = self.service.act(session or self.engine, GATE, "collect", timeout, limit, "get")
        if answers is None:
            return None
        read = [pickle.loads(payload) for payload in answers]
        assert [rank for rank, _, _ in read] == [0, 1], f"the answers are from {read}"
        meant = {(key, attempt) for _, key, attempt in read}
        assert len(meant) == 1, f"answers to different requests were collected together: {read}"
        return meant.pop()

    def scenario(self, tasks: Mapping[str, Callable[[], None]], final: Callable[[], None]) -> Scenario:
        """Return the scenario of these tasks, with the checks of this testbed."""

        def at_the_end() -> None:
            final()
            self._judge()

        return Scenario(tasks, invariant=self.invariant, final=at_the_end)

    def invariant(self) -> None:
        """What must hold between any two critical sections."""
        if not self.runtime.idle():
            return
        rounds = self.core.rounds
        assert len(rounds) <= self.core.capacity, "more rounds than the capacity"
        assert len({r.key for r in rounds}) == len(rounds), "two rounds of one key"
        assert not any(set(r.answers) & r.without for r in rounds), "a rank that can not answer has answered"

    def _judge(self) -> None:
        lines = tuple(json.dumps({"v": FORMAT, **event}) for event in self.recorder.events)
        if lines not in _judged:
            verdict = accept(lines)[0]
            _judged[lines] = "" if verdict.accepted else f"event {verdict.events}: {verdict.reason}"
        assert not _judged[lines], f"the model refuses the run: {_judged[lines]}"
