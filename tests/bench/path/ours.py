"""fdcomm as subjects: the ring, and the public queue."""

from __future__ import annotations

import os
from typing import Any

from tests.bench.path.subject import Batch, Get, Subject

__all__ = ("LOOKS", "EngineQueue", "Ring")

LOOKS = ", looks 5 ms"
_LOOK_S = 0.005
_WATCHDOG_S = 60.0


class Ring(Subject):
    """``fdcomm.ring``: RingWriter and RingReader."""

    def __init__(self, depth: int, *, looks: bool = False) -> None:
        self.name = f"ring, depth {depth}" + (LOOKS if looks else "")
        self._depth = depth
        self._spin_s = _LOOK_S if looks else 0.0
        self._end: Any = None

    def load(self) -> None:
        from fdcomm.ring import RingReader  # noqa: F401

    def open_writer(self) -> str:
        from fdcomm.ring import RingWriter

        name = f"bench-path-{os.getpid()}"
        self._end = RingWriter.create(name, self.ranks, depth=self._depth)
        self.put = self._end.put  # type: ignore[method-assign]  # as a user calls it: no frame in between
        return name

    def open_reader(self, rank: int, orders: Any) -> Get:
        from fdcomm.ring import RingReader

        self._end = reader = RingReader.attach(orders, rank, spin_s=self._spin_s)
        return lambda: reader.get(_WATCHDOG_S)

    def close(self) -> None:
        if self._end is not None:
            self._end.close()


class EngineQueue(Subject):
    """``fdcomm.EngineWorkerQueue``: put_tasks and a waiting get_tasks, as an engine and its workers use it."""

    def __init__(self, *, looks: bool = False) -> None:
        self.name = "EngineWorkerQueue" + (LOOKS if looks else "")
        self._looks = looks
        self._ends: list[Any] = []

    def load(self) -> None:
        from fdcomm import EngineWorkerQueue  # noqa: F401

    def open_writer(self) -> int:
        from fdcomm import EngineWorkerQueue

        server = EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=self.ranks)
        self._ends.append(server)
        port: int = server.get_server_port()
        engine = EngineWorkerQueue(("0.0.0.0", port), num_client=self.ranks, client_id=0, role="producer")
        self._ends.append(engine)
        return port

    def open_reader(self, rank: int, orders: Any) -> Get:
        from fdcomm import EngineWorkerQueue

        if self._looks:
            os.environ["FDCOMM_SPIN_S"] = str(_LOOK_S)
        queue = EngineWorkerQueue(("0.0.0.0", orders), num_client=self.ranks, client_id=rank, role="reader")
        self._ends.append(queue)
        return lambda: queue.get_tasks(timeout=_WATCHDOG_S)[0][0][0]

    def put(self, batch: Batch) -> None:
        self._ends[1].put_tasks((batch, batch[0]["number"]))

    def helpers(self) -> list[int]:
        process = self._ends[0]._host
        return [process.pid] if process is not None else []

    def close(self) -> None:
        for end in reversed(self._ends):
            end.close()
        if len(self._ends) == 2:
            self._ends[0].cleanup()
