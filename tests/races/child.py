"""A client in an interpreter of its own, driven line by line: ``python -m tests.races.child``, started by Child.

It can be stopped before any named step, and killed there. For the shipped client the steps are its round trips; for
ours they are the points of one call: ``call.send``, ``call.sent``, ``call.received``.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from fdcomm import EngineWorkerQueue
from fdcomm.runtime import SystemRuntime
from tests.races.pipes import ROOT, read_line
from tests.races.shipped import ShippedQueue

__all__ = ("Child",)


class Child:
    """The parent's end. ``orders`` is what :func:`_open` reads."""

    def __init__(self, orders: dict[str, Any]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.races.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            cwd=ROOT,
        )
        try:
            self._say(orders)
            self.expect("ready")
        except BaseException:
            self.kill()
            raise

    def call(self, method: str, *args: Any) -> Any:
        """Call a method of the client and return its result (after JSON: tuples become lists)."""
        self.start(method, *args)
        return self.expect("result")

    def start(self, method: str, *args: Any, stop_before: str = "") -> None:
        """Begin a call; it stops before the step, or goes on."""
        self._say({"method": method, "args": args, "stop_before": stop_before})

    def wait_stopped(self) -> str:
        """Wait until the call stands before its step."""
        return str(self.expect("stopped"))

    def resume(self) -> None:
        """Let a stopped call go on."""
        self._say({})

    def expect(self, kind: str) -> Any:
        """Return the value of the next line, which must be of this kind."""
        line = read_line(self.process)
        if list(line) != [kind]:
            raise AssertionError(f"expected {kind!r}, the child said {line}")
        return line[kind]

    def kill(self) -> None:
        """SIGKILL, and wait until the process is gone. Idempotent."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()

    def _say(self, line: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(line).encode() + b"\n")


class _Stopper:
    """Stops before one step and tells the parent, which resumes or kills."""

    def __init__(self) -> None:
        self.step = ""

    def __call__(self, step: str) -> None:
        if self.step and step == self.step:
            self.step = ""
            _tell("stopped", step)
            if not sys.stdin.buffer.readline():  # the parent is gone
                sys.exit()


class _StoppingRuntime(SystemRuntime):
    def __init__(self, stopper: _Stopper) -> None:
        self._stopper = stopper

    def point(self, name: str) -> None:
        self._stopper(name)


def _open(orders: dict[str, Any], stopper: _Stopper) -> Any:
    if orders["variant"] == "shipped":
        address = orders["address"]
        place = address if isinstance(address, str) else (address[0], address[1])
        key, words = bytes.fromhex(orders["key"]), orders["words"]
        return ShippedQueue(place, key, orders["ranks"], orders["rank"], words, hook=stopper)
    return EngineWorkerQueue(
        ("0.0.0.0", orders["port"]),
        num_client=orders["ranks"],
        client_id=orders["rank"],
        role=orders["role"],
        runtime=_StoppingRuntime(stopper),
    )


def _tell(kind: str, value: Any) -> None:
    sys.stdout.buffer.write(json.dumps({kind: value}).encode() + b"\n")
    sys.stdout.buffer.flush()


def _run() -> None:
    stopper = _Stopper()
    queue = _open(json.loads(sys.stdin.buffer.readline()), stopper)
    _tell("ready", None)
    while line := sys.stdin.buffer.readline():
        order = json.loads(line)
        stopper.step = order["stop_before"]
        _tell("result", getattr(queue, order["method"])(*order["args"]))
    queue.close()


if __name__ == "__main__":
    _run()
