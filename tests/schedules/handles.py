"""Programs over the public queue class: handles of several threads, on the in-process transport."""

from __future__ import annotations

from dataclasses import replace

from fdcomm import EngineWorkerQueue
from fdcomm.errors import ClosedError, FencedError
from fdcomm.testing import ControlledRuntime, Program, Scenario
from fdcomm.transports.inproc import InprocTransport
from tests.schedules.testbed import Testbed

__all__ = ("close_in_another_thread",)


def close_in_another_thread(method: str) -> Program:
    """One thread waits in put or get of a handle that another one closes: ClosedError or FencedError, no ghost."""

    def build(runtime: ControlledRuntime) -> Scenario:
        bed = Testbed(runtime, 1)
        first = EngineWorkerQueue(
            num_client=1, client_id=0, role="producer", transport=InprocTransport(bed.service), runtime=runtime
        )
        queue = EngineWorkerQueue(
            num_client=1,
            client_id=0,
            role="producer" if method == "put" else "reader",
            transport=InprocTransport(bed.service),
            runtime=runtime,
        )
        if method == "put":
            first.put_tasks("fills the queue", timeout=0)
        answers: list[object] = []

        def call() -> None:
            with bed.expect(ClosedError, FencedError):
                if method == "put":
                    queue.put_tasks("never", timeout=None)
                else:
                    queue.get_tasks(timeout=9)
                answers.append(method)

        def final() -> None:
            assert len(bed.raised) == 1, f"the call answered {answers}"
            statistics = first.statistics()
            assert (statistics.waiting_puts, statistics.sessions) == (0, 1)
            queue.close()

        def close() -> None:
            queue.close()
            first.close()

        return replace(bed.scenario({"call": call, "close": queue.close}, final), close=close)

    return Program(f"close while another thread waits in {method}", build, {"method": method})
