"""The mailbox's sockets beside plain ones of pyzmq, which pickle as well: ``python -m tests.bench.mailbox [--quick]``.

For each size: messages per second from one process to another, and the time of a round trip. Both variants take turns
between the same two processes; shown are medians, and how many times as long ours takes.
"""

from __future__ import annotations

import argparse
import os
import pickle
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing.reduction import ForkingPickler
from subprocess import DEVNULL, Popen
from typing import Any, Protocol

import zmq

from fdcomm import ZmqIpcClient, ZmqIpcServer

__all__ = ("SIZES", "main", "measure")

SIZES = {"64 B": 64, "4 KiB": 4096, "1 MiB": 1 << 20, "16 MiB": 1 << 24}
_LIMIT_S = 60.0


class End(Protocol):
    """One end of two one-way channels."""

    def send(self, data: Any) -> None:
        """Send an object."""

    def receive(self) -> Any:
        """Return the next one."""


class _Plain:
    """Sockets of pyzmq, without locks, limits of time or formats; objects are pickled."""

    def __init__(self, there: str, back: str, *, first: bool, undo: ExitStack) -> None:
        context = undo.enter_context(zmq.Context())
        self._pull = undo.enter_context(context.socket(zmq.PULL))
        self._push = undo.enter_context(context.socket(zmq.PUSH))
        for socket in (self._pull, self._push):
            socket.linger = 0
            socket.sndhwm, socket.rcvhwm = 10_000, 1_000
        folder = os.environ["FDCOMM_RUNTIME_DIR"]
        self._pull.bind(f"ipc://{folder}/plain-{back if first else there}")
        self._push.connect(f"ipc://{folder}/plain-{there if first else back}")

    def send(self, data: Any) -> None:
        self._push.send(ForkingPickler.dumps(data), copy=False)

    def receive(self) -> Any:
        return pickle.loads(self._pull.recv(copy=False).buffer)


class _Ours:
    """The classes that ship."""

    def __init__(self, there: str, back: str, *, first: bool, undo: ExitStack) -> None:
        self._server = undo.enter_context(ZmqIpcServer(back if first else there, zmq.PULL))
        self._client = undo.enter_context(ZmqIpcClient(there if first else back, zmq.PUSH))

    def send(self, data: Any) -> None:
        self._client.send_pyobj(data)

    def receive(self) -> Any:
        error, data = self._server.receive_pyobj_once(True, timeout=_LIMIT_S)
        if error is not None:
            raise RuntimeError(error)
        return data


VARIANTS: dict[str, Callable[..., End]] = {"pyzmq": _Plain, "ours": _Ours}


Ends = dict[str, End]


def _opened(there: str, back: str, *, first: bool, undo: ExitStack) -> Ends:
    return {name: made(f"{there}-{name}", f"{back}-{name}", first=first, undo=undo) for name, made in VARIANTS.items()}


def _peer(there: str, back: str) -> None:
    """The other process: sends so many objects of a size through one of the variants, or sends back what comes."""
    with ExitStack() as undo:
        ends = _opened(there, back, first=False, undo=undo)
        while (order := ends["pyzmq"].receive()) is not None:
            variant, count, size, echo = order
            end, payload = ends[variant], b"x" * size
            for _ in range(count):
                end.send(end.receive() if echo else payload)


@contextmanager
def _pair() -> Iterator[Ends]:
    there, back = f"there-{os.getpid()}", f"back-{os.getpid()}"
    peer = Popen([sys.executable, "-m", "tests.bench.mailbox", "--peer", there, back], stdin=DEVNULL)
    try:
        with ExitStack() as undo:
            ends = _opened(there, back, first=True, undo=undo)
            yield ends
            ends["pyzmq"].send(None)
            peer.wait(_LIMIT_S)
    finally:
        peer.kill()
        peer.wait()


def _throughput(ends: Ends, variant: str, size: int, count: int) -> float:
    """Return seconds for each message, from the first that comes to the last."""
    ends["pyzmq"].send((variant, count + 1, size, False))
    end = ends[variant]
    end.receive()
    began = time.perf_counter()
    for _ in range(count):
        end.receive()
    return (time.perf_counter() - began) / count


def _latency(ends: Ends, variant: str, size: int, count: int) -> list[float]:
    """Return the times of so many round trips, in seconds."""
    ends["pyzmq"].send((variant, count, size, True))
    end, payload, taken = ends[variant], b"x" * size, []
    for _ in range(count):
        began = time.perf_counter()
        end.send(payload)
        end.receive()
        taken.append(time.perf_counter() - began)
    return taken


def measure(sizes: dict[str, int], rounds: int, scale: float) -> Iterator[tuple[str, str, dict[str, list[float]]]]:
    """Yield size, what was measured, and each variant's seconds: the variants take turns in the same two processes."""
    for name, size in sizes.items():
        many = max(3, int(scale * min(5_000, (1 << 27) // (size + 4096))))
        few = max(2, int(scale * min(200, (1 << 25) // (size + 4096))))
        messages: dict[str, list[float]] = {variant: [] for variant in VARIANTS}
        trips: dict[str, list[float]] = {variant: [] for variant in VARIANTS}
        with _pair() as ends:
            for _ in range(rounds):
                for variant in VARIANTS:
                    messages[variant].append(_throughput(ends, variant, size, many))
                    trips[variant] += _latency(ends, variant, size, few)
        yield name, "message", messages
        yield name, "round trip", trips


def main(arguments: list[str] | None = None) -> None:
    """Measure, and print one line for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="about half a minute")
    parser.add_argument("--peer", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.peer:
        _peer(*options.peer)
        return
    rounds, scale = (6, 0.25) if options.quick else (20, 1.0)
    with tempfile.TemporaryDirectory(prefix="fdb") as folder:
        os.environ["FDCOMM_RUNTIME_DIR"] = folder
        print(f"{'size':>8} {'':>11} {'pyzmq':>22} {'ours':>22}  ours/pyzmq")
        for size, what, of in measure(SIZES, rounds, scale):
            medians = {variant: statistics.median(of[variant]) for variant in VARIANTS}
            shown = {
                variant: f"{1 / seconds:14.0f} msg/s" if what == "message" else f"{seconds * 1e6:16.0f} us"
                for variant, seconds in medians.items()
            }
            ratio = medians["ours"] / medians["pyzmq"]
            print(f"{size:>8} {what:>11} {shown['pyzmq']:>22} {shown['ours']:>22}  {ratio:.2f}", flush=True)


if __name__ == "__main__":
    main()
