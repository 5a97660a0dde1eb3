"""FMQ beside plain pyzmq sockets and multiprocessing.Queue: ``python -m tests.bench.fmq [--quick]``.

One producer process, one consumer process. What is measured is the time from the first put until the consumer has had
the last message in its hands, and the way of a single message there and back. pyzmq is measured twice: PUSH and PULL,
which loses what is under way when a process is killed, and with the guarantees of FMQ (DEALER and ROUTER, numbered,
acknowledged in the same steps, kept until then). The runs of one size are interleaved; medians are shown.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import pickle
import statistics
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import zmq

from fdcomm.mq import FMQ

__all__ = ("main", "measure")

SIZES: Final = {"64 B": 64, "4 KiB": 4096, "1 MiB": 1 << 20, "16 MiB": 16 << 20}
KINDS: Final = ("fmq", "pyzmq", "pyzmq acknowledged", "multiprocessing.Queue")
_WINDOW: Final = 1024
_ACK_EVERY: Final = 32
_WATCHDOG_S: Final = 60.0
_PAGES: Final = 1 << 20

Put = Callable[[object], object]
Get = Callable[[], Any]


def _payload(nbytes: int) -> object:
    """Small messages are bytes; large ones are arrays, as an engine has them."""
    return os.urandom(nbytes) if nbytes < 1 << 20 else np.frombuffer(os.urandom(1 << 16) * (nbytes >> 16), np.uint8)


def _dumps(data: object) -> list[Any]:
    """How one sends an object through a plain socket without copying its arrays."""
    found: list[pickle.PickleBuffer] = []
    return [pickle.dumps(data, 5, buffer_callback=found.append), *found]


def _loads(frames: list[Any]) -> object:
    return pickle.loads(frames[0].buffer, buffers=[frame.buffer for frame in frames[1:]])


def _ends(kind: str, where: str, queue: Any, role: str) -> tuple[Any, Callable[[], object]]:
    """Return put or get of one end, and what closes it."""
    if kind == "fmq":
        fmq = FMQ()
        end = fmq.queue(where, role)
        return (end.put if role == "producer" else lambda: end.get(_WATCHDOG_S).payload), fmq.destroy
    if kind == "multiprocessing.Queue":
        return (queue.put if role == "producer" else lambda: queue.get(timeout=_WATCHDOG_S)), lambda: None
    context = zmq.Context()
    made: Any = (_plain if kind == "pyzmq" else _acknowledged)(context, f"ipc://{tempfile.gettempdir()}/{where}", role)
    return made, lambda: context.destroy(linger=0 if role == "consumer" else 10_000)


def _plain(context: Any, url: str, role: str) -> Any:
    if role == "producer":
        push = context.socket(zmq.PUSH)
        push.sndhwm = 0
        push.connect(url)
        return lambda data: (
            push.send_multipart(_dumps(data), copy=False) if _large(data) else push.send(_dumps(data)[0])
        )
    pull = context.socket(zmq.PULL)
    pull.rcvhwm, pull.rcvtimeo = 0, int(1000 * _WATCHDOG_S)
    pull.bind(url)
    return lambda: _loads(pull.recv_multipart(copy=False))


def _large(data: object) -> bool:
    return isinstance(data, np.ndarray)


def _acknowledged(context: Any, url: str, role: str) -> Any:
    """The same guarantees written by hand: kept until acknowledged, numbers in order, one acknowledgement for many."""
    if role == "producer":
        dealer = context.socket(zmq.DEALER)
        dealer.sndhwm, dealer.rcvtimeo = 0, int(1000 * _WATCHDOG_S)
        dealer.connect(url)
        kept: deque[Any] = deque()
        state = {"sent": 0, "base": 0}

        def put(data: object) -> None:
            while state["sent"] - state["base"] >= _WINDOW:
                told = int.from_bytes(dealer.recv(), "little")
                while state["base"] < told:
                    kept.popleft()
                    state["base"] += 1
            state["sent"] += 1
            frames = [state["sent"].to_bytes(8, "little"), *_dumps(data)]
            kept.append(frames)
            dealer.send_multipart(frames, copy=not _large(data))

        return put
    router = context.socket(zmq.ROUTER)
    router.rcvhwm, router.rcvtimeo = 0, int(1000 * _WATCHDOG_S)
    router.bind(url)
    last = {"number": 0}

    def get() -> object:
        peer, number, *frames = router.recv_multipart(copy=False)
        now = int.from_bytes(number.bytes, "little")
        if now != last["number"] + 1:
            raise RuntimeError(f"message {now} after {last['number']}")
        last["number"] = now
        if now % _ACK_EVERY == 0:
            router.send_multipart([peer.bytes, now.to_bytes(8, "little")])
        return _loads(frames)

    return get


def _warm(nbytes: int) -> int:
    """How many messages go before those that are measured: as many bytes as FMQ keeps, several times."""
    return 1 if nbytes < _PAGES else 256 * _PAGES // nbytes


def _produce(kind: str, where: str, queue: Any, nbytes: int, count: int, go: Any, out: Any) -> None:
    put, close = _ends(kind, where, queue, "producer")
    data = _payload(nbytes)
    for _ in range(_warm(nbytes)):  # connects, and makes memory that is written again
        put(data)
    go.wait(_WATCHDOG_S)
    begin, used = time.monotonic(), time.process_time()
    for _ in range(count):
        put(data)
    out.recv()  # the last was taken
    out.send((begin, time.process_time() - used))
    out.recv()
    close()


def measure(kind: str, nbytes: int, count: int) -> tuple[float, float]:
    """Return the seconds for each message of so many, from the first put until the last was taken; and the seconds of
    processor time that both processes have used for it, which hardly depend on what else the machine does."""
    spawn = multiprocessing.get_context("fork")
    go, queue = spawn.Event(), spawn.Queue(_WINDOW)
    where = f"b{os.getpid()}-{os.urandom(4).hex()}"
    ours, theirs = spawn.Pipe()
    # Forked before this process has sockets.
    producer = spawn.Process(target=_produce, args=(kind, where, queue, nbytes, count, go, theirs))
    producer.start()
    get, close = _ends(kind, where, queue, "consumer")
    touched = 0
    try:
        for _ in range(_warm(nbytes)):
            get()
        used = time.process_time()
        go.set()
        for _ in range(count):
            taken = get()
            if nbytes >= _PAGES:
                touched = taken[::4096].sum()  # every page, as who uses it does
        end, used = time.monotonic(), time.process_time() - used
        if len(taken) != nbytes or touched < 0:
            raise RuntimeError(f"{kind}: {len(taken)} bytes instead of {nbytes}")
        ours.send(None)
        begin, more = ours.recv()
        ours.send(None)
        return (end - begin) / count, (used + more) / count
    finally:
        close()
        producer.join(_WATCHDOG_S)
        queue.close()
        if kind.startswith("pyzmq"):
            os.unlink(f"{tempfile.gettempdir()}/{where}")


def _fresh(kind: str, nbytes: int, count: int, out: Any) -> None:
    out.send(measure(kind, nbytes, count))


def _in_a_process(kind: str, nbytes: int, count: int) -> tuple[float, float]:
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=_fresh, args=(kind, nbytes, count, theirs))
    process.start()
    theirs.close()
    try:
        wall, cpu = ours.recv()
        return float(wall), float(cpu)
    finally:
        process.join(_WATCHDOG_S)


def _count(nbytes: int, quick: bool) -> int:
    most = 20_000 if nbytes <= 4096 else 200 if nbytes <= 1 << 20 else 30
    return most // 4 if quick else most


def main(arguments: list[str] | None = None) -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.fmq", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer messages, fewer runs")
    parser.add_argument("--sizes", nargs="*", choices=SIZES, default=list(SIZES))
    chosen = parser.parse_args(arguments)
    runs = 3 if chosen.quick else 7
    print("| one producer, one consumer | " + " | ".join(KINDS) + " | FMQ beside pyzmq, acknowledged |")
    print("|---|" + "---:|" * (len(KINDS) + 1))
    for size in chosen.sizes:
        nbytes = SIZES[size]
        found: dict[str, list[tuple[float, float]]] = {kind: [] for kind in KINDS}
        for _ in range(runs):
            for kind in KINDS:
                found[kind].append(_in_a_process(kind, nbytes, _count(nbytes, chosen.quick)))
        for which, what in enumerate(("until it is there", "processor time")):
            middle = {kind: statistics.median(times[which] for times in found[kind]) for kind in KINDS}
            cells = [f"{1e6 * middle[kind]:.1f} µs" for kind in KINDS]
            ratios = f"{middle['fmq'] / middle['pyzmq']:.2f}, {middle['fmq'] / middle['pyzmq acknowledged']:.2f}"
            print(f"| {size}, {what} | " + " | ".join(cells) + f" | {ratios} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
