"""A process under remote control: opens a queue, calls it, and may be told to die, fork or report at a named point.

Standard library and fdcomm only, so that any supported interpreter can run it. One JSON line per order on standard
input, one per answer on standard output; see ``tests.faults.remote`` for the other end.
"""

from __future__ import annotations

import dataclasses
import json
import operator
import os
import random
import signal
import sys
import threading
from typing import Any

import fdcomm.host.process
import fdcomm.transports.manager
import fdcomm.wire
from fdcomm import EngineCacheQueue, EngineWorkerQueue, FdcommError
from fdcomm.testing.faults import FaultRuntime, Kind
from tests.multiproc.reader import batch

__all__ = ("main",)

_output = threading.Lock()


def say(**message: Any) -> None:
    """Answer."""
    with _output:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


class Puppet:
    """What the orders reach."""

    def __init__(self) -> None:
        self.runtime = FaultRuntime(tell=lambda point: say(point=point))
        self.queue: EngineWorkerQueue | EngineCacheQueue | None = None

    def open(self, **arguments: Any) -> int:
        """Open a queue; returns its port."""
        address = tuple(arguments.pop("address", ("0.0.0.0", 0)))
        key = arguments.pop("authkey", None)
        if key is not None:
            arguments["authkey"] = bytes.fromhex(key)
        link = arguments.pop("link", None)
        if link is not None:
            keys = link.pop("keys", None)
            arguments["transport"] = fdcomm.ZmqLink(keys=fdcomm.CurveKeys(*keys) if keys else None, **link)
        queue_class = getattr(fdcomm, arguments.pop("queue", "EngineWorkerQueue"))
        self.queue = queue = queue_class(address, runtime=self.runtime, **arguments)
        port: int = queue.address[1]
        return port

    def call(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """Call a method of the queue, or of one of its barriers: ``barrier1.wait``."""
        result = operator.attrgetter(method)(self.queue)(*args, **kwargs)
        return dataclasses.asdict(result) if dataclasses.is_dataclass(result) else result  # type: ignore[arg-type]

    def put_batches(self, names: list[str], seed: str) -> None:
        """Put a batch of random size under each name."""
        randomness = random.Random(seed)
        for name in names:
            self.call("put_tasks", batch(name, randomness), timeout=100)

    def arm(self, point: str, kind: Kind) -> None:
        """Arm the next passage of a point."""
        self.runtime.arm_next(point, kind)

    def host(self) -> dict[str, Any]:
        """Return what the owner knows of its host."""
        host: Any = getattr(self.queue, "_host", None)
        record: dict[str, Any] = dataclasses.asdict(host.record)
        return record

    def fork(self) -> int:
        """Fork a child that lives until it is killed; returns its process id."""
        pid = os.fork()
        if pid == 0:
            for fd in (0, 1):
                os.close(fd)
            while True:
                signal.pause()
        return pid

    def use_in_fork(self, method: str, *args: Any) -> str:
        """Call the inherited queue in a forked child; returns the error's class and text."""
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                text = repr(operator.attrgetter(method)(self.queue)(*args))
            except Exception as error:  # noqa: BLE001 - reported
                text = f"{type(error).__name__}: {error}"
            os.write(write, text.encode())
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as answer:
            text = answer.read()
        os.waitpid(pid, 0)
        return text

    def shorten(self, seconds: float) -> None:
        """Shorten the time in which a host has to answer, or to end."""
        for module, name in (
            (fdcomm.transports.manager, "REPLY_GRACE_S"),
            (fdcomm.wire, "STALL_S"),
            (fdcomm.host.process, "_STOP_LIMIT_S"),
        ):
            if not hasattr(module, name):
                raise AttributeError(name)
            setattr(module, name, seconds)

    def fds(self) -> int:
        """Return how many files are open."""
        return len(os.listdir("/proc/self/fd"))

    def version(self) -> list[int]:
        """Return the interpreter's version."""
        return list(sys.version_info[:2])


def main() -> None:
    """Obey until standard input ends."""
    puppet = Puppet()
    for line in sys.stdin:
        order = json.loads(line)
        try:
            value = getattr(puppet, order["order"])(*order["args"], **order["kwargs"])
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - reported
            typed = isinstance(error, FdcommError)
            say(
                error=type(error).__name__,
                typed=typed,
                text=str(error),
                missing=getattr(error, "missing", ()),
                operation=getattr(error, "operation", ""),
            )
        else:
            say(value=value)
    if puppet.queue is not None:
        puppet.queue.close()


if __name__ == "__main__":
    main()
