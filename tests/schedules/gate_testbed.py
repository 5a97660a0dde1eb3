"""The shipping host's gate on a controlled runtime, whose recorded runs the model judges."""

from __future__ import annotations

import pickle
from collections import deque
from typing import Any

from fdcomm.host.gate_channel import GateChannel
from fdcomm.host.service import HostConfig
from fdcomm.testing import ControlledRuntime
from models.dispatch_trace import accept
from tests.schedules.hosted import HostBed

__all__ = ("GateBed",)

GATE = "send_cache"


class GateBed(HostBed):
    """A host service with one gate of two ranks."""

    def __init__(self, runtime: ControlledRuntime, capacity: int = 64, max_late: int = 256) -> None:
        super().__init__(runtime, HostConfig(2), GATE, accept)
        channel = self.service.channel(GATE)
        assert isinstance(channel, GateChannel)
        self.core = channel._core
        self.core.capacity = capacity
        self.core.late = [deque(maxlen=max_late) for _ in range(2)]
        opening = dict(self.recorder.events[0])
        self.recorder.events[0] = opening | {"capacity": capacity, "max_late": max_late}
        self.ranks = [self.session(0), self.session(1)]
        self.engine = self.session(-1, "producer")

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

    def invariant(self) -> None:
        """What must hold between any two critical sections."""
        if not self.runtime.idle():
            return
        rounds = self.core.rounds
        assert len(rounds) <= self.core.capacity, "more rounds than the capacity"
        assert len({r.key for r in rounds}) == len(rounds), "two rounds of one key"
        assert not any(set(r.answers) & r.without for r in rounds), "a rank that can not answer has answered"
