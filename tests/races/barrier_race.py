"""Barrier race scenarios: ranks that wait in threads or processes, on the shipped use and on ours."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fdcomm import EngineCacheQueue
from tests.races.pipes import ROOT, WATCHDOG_S, read_line
from tests.races.race import Race, wait_until
from tests.races.shipped_barrier import ShippedBarriers

__all__ = ("BarrierOurs", "BarrierRace", "BarrierShipped", "BarrierVariant", "Waiting")


class Waiting:
    """A wait in a thread of its own."""

    def __init__(self, call: Callable[[], object]) -> None:
        self._call = call
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._call()
        except BaseException as error:  # noqa: BLE001 - the scenario says what it means
            self._error = error

    def is_running(self) -> bool:
        """Return True while it waits."""
        return self._thread.is_alive()

    def error(self) -> BaseException | None:
        """Wait for its end; return what it raised."""
        self._thread.join(WATCHDOG_S)
        if self._thread.is_alive():
            raise TimeoutError("a wait has not ended")
        return self._error


class BarrierShipped:
    """The shipped use. ``rank`` says who acts, and nobody asks."""

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        self.barriers = ShippedBarriers(ranks)

    def wait(self, rank: int, name: str = "barrier0", **says: Any) -> Waiting:
        """Begin a wait; a shipped one cannot say what it is for."""
        return Waiting(lambda: self.barriers.wait(name))

    def reset(self, rank: int, name: str = "barrier0") -> None:
        """Reset."""
        self.barriers.reset(name)

    def abort(self, name: str = "barrier0") -> None:
        """Abort."""
        self.barriers.abort(name)

    def arrived(self, name: str = "barrier0", count: int = 1) -> None:
        """Wait until so many wait."""
        wait_until(f"{count} waiting at {name}", lambda: self.barriers.waiting(name) == count)

    def kill_waiter(self, rank: int, name: str = "barrier0") -> None:
        """Let a process wait for the rank, and kill it while it does."""
        child = self.barriers.waiter(name)
        self.arrived(name)
        child.kill()
        child.wait()

    def lose(self, rank: int) -> None:
        """The rank's process is gone: it makes no call any more, and nobody is told."""

    def again(self, rank: int) -> None:
        """The rank has been started again."""

    def __enter__(self) -> BarrierShipped:
        return self

    def __exit__(self, *exc: object) -> None:
        self.barriers.stop()


class BarrierOurs:
    """fdcomm, with a real host process."""

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        self._stack = contextlib.ExitStack()
        self.server = self._stack.enter_context(EngineCacheQueue(("0.0.0.0", 0), is_server=True, num_client=ranks))
        self.queues = {rank: self._client(rank) for rank in range(ranks)}

    def _client(self, rank: int) -> EngineCacheQueue:
        queue = EngineCacheQueue(self.server.address, num_client=self.ranks, client_id=rank)
        self._stack.callback(queue.close)
        return queue

    def wait(self, rank: int, name: str = "barrier0", **says: Any) -> Waiting:
        """Begin a wait."""
        barrier = getattr(self.queues[rank], name)
        return Waiting(lambda: barrier.wait(WATCHDOG_S, **says))

    def reset(self, rank: int, name: str = "barrier0") -> None:
        """Reset."""
        getattr(self.queues[rank], name).reset()

    def abort(self, name: str = "barrier0") -> None:
        """Abort."""
        getattr(self.server, name).abort()

    def arrived(self, name: str = "barrier0", count: int = 1) -> None:
        """Wait until so many wait."""
        wait_until(f"{count} waiting at {name}", lambda: getattr(self.server, name).n_waiting == count)

    def kill_waiter(self, rank: int, name: str = "barrier0") -> None:
        """Let a process wait for the rank, and kill it while it does."""
        self.queues.pop(rank).close()
        child = subprocess.Popen(
            [sys.executable, "-m", "tests.races.barrier_race"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            cwd=ROOT,
        )
        try:
            assert child.stdin is not None
            orders = {"port": self.server.get_server_port(), "ranks": self.ranks, "rank": rank, "barrier": name}
            child.stdin.write(json.dumps(orders).encode() + b"\n")
            read_line(child)
            self.arrived(name)
        finally:
            child.kill()
            child.wait()
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    pipe.close()
        self._fenced(rank, name)

    def lose(self, rank: int) -> None:
        """The rank's connection ends as with its process, and the host has noticed."""
        self.queues.pop(rank)._release(goodbye=False)
        self._fenced(rank, "barrier0")

    def again(self, rank: int) -> None:
        """The rank has been started again."""
        self.queues[rank] = self._client(rank)

    def _fenced(self, rank: int, name: str) -> None:
        wait_until("the fence", lambda: rank in getattr(self.server, name)._view()["lost"])

    def __enter__(self) -> BarrierOurs:
        return self

    def __exit__(self, *exc: object) -> None:
        self._stack.close()


BarrierVariant = BarrierShipped | BarrierOurs


@dataclass(frozen=True)
class BarrierRace(Race):
    """A race of barriers."""

    shipped: Callable[[Any], str]
    ours: Callable[[Any], str]

    def on_shipped(self) -> str:
        """Return what went wrong on the shipped use."""
        with BarrierShipped(self.ranks) as variant:
            return self.shipped(variant)

    def on_ours(self) -> str:
        """Return what went wrong on ours."""
        with BarrierOurs(self.ranks) as variant:
            return self.ours(variant)


def _wait() -> None:
    orders = json.loads(sys.stdin.buffer.readline())
    queue = EngineCacheQueue(("0.0.0.0", orders["port"]), num_client=orders["ranks"], client_id=orders["rank"])
    print(json.dumps("ready"), flush=True)
    getattr(queue, orders["barrier"]).wait(None)


if __name__ == "__main__":
    _wait()
