"""A process that makes and attaches one signal, driven line by line: ``python -m tests.races.signal_child``.

The shipped one stops before a step, ours after one (its fault points). A fork of it belongs to the same process tree.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

from tests.races.shipped_signal import ShippedSignal, exists, tracker

__all__: tuple[str, ...] = ()


class Shipped:
    """FastDeploy's signal."""

    def __init__(self, name: str, hook: Callable[[str], None]) -> None:
        self._name, self._hook = name, hook
        self._handle: ShippedSignal | None = None

    def create(self, value: int) -> None:
        """Make it."""
        self._handle = ShippedSignal(self._name, value, hook=self._hook)

    def attach(self) -> int:
        """Attach, and return the word."""
        self._handle = ShippedSignal(self._name, create=False, hook=self._hook)
        return self._handle.read()

    def attach_in_a_child(self) -> int:
        """A forked child attaches, takes its entry in the tracker back, and is gone. Returns the tracker's pid."""
        child = os.fork()
        if child == 0:
            ShippedSignal(self._name, create=False, unregisters=True)
            os._exit(0)
        os.waitpid(child, 0)
        return tracker() or 0

    def probe(self) -> bool:
        """Is it there?"""
        return exists(self._name)

    def handle(self) -> Any:
        """The open handle."""
        assert self._handle is not None
        return self._handle

    def read(self) -> int:
        """The word."""
        return int(self.handle().read())

    def write(self, value: int) -> None:
        """Change it."""
        self.handle().write(value)

    def clear(self) -> None:
        """Clear."""
        self.handle().clear()

    def tracker(self) -> int | None:
        """The tracker's pid."""
        return tracker()


class Ours:
    """fdcomm's signal."""

    def __init__(self, name: str, hook: Callable[[str], None]) -> None:
        import numpy

        import fdcomm
        from fdcomm.runtime import SystemRuntime

        class Stopping(SystemRuntime):
            def point(self, name: str) -> None:
                hook(name.rpartition(".")[2])

        self._fdcomm, self._numpy, self._name = fdcomm, numpy, name
        self._runtime = Stopping()
        self._handle: Any = None

    def _open(self, value: int, timeout: float, *, create: bool, replace: bool = False) -> Any:
        word = self._numpy.array([value], dtype=self._numpy.int32)
        return self._fdcomm.IPCSignal(
            self._name,
            word,
            word.dtype,
            create=create,
            replace=replace,
            timeout=timeout,
            runtime=self._runtime,
        )

    def create(self, value: int, timeout: float = 30.0) -> None:
        """Make it."""
        self._handle = self._open(value, timeout, create=True)

    def replace(self, value: int) -> None:
        """Make it, whoever owns it now."""
        self._handle = self._open(value, 30.0, create=True, replace=True)

    def attach(self, timeout: float = 30.0) -> int:
        """Attach, and return the word."""
        self._handle = self._open(0, timeout, create=False)
        return self.read()

    def attach_in_a_child(self) -> int:
        """A forked child attaches and is gone. Returns the tracker's pid, or 0."""
        child = os.fork()
        if child == 0:
            self._open(0, 30.0, create=False)
            os._exit(0)
        os.waitpid(child, 0)
        return tracker() or 0

    def probe(self) -> bool:
        """Is it there?"""
        return bool(self._fdcomm.shared_memory_exists(self._name))

    def read(self) -> int:
        """The word."""
        return int(self._handle.value[0])

    def write(self, value: int) -> None:
        """Change it."""
        self._handle.value[0] = value

    def clear(self) -> None:
        """Clear."""
        self._handle.clear()

    def superseded(self) -> bool:
        """Has another one the name, or none?"""
        return bool(self._handle.superseded)

    def tracker(self) -> int | None:
        """The tracker's pid."""
        return tracker()


def _say(kind: str, value: Any) -> None:
    print(json.dumps({kind: value}), flush=True)


def _next() -> Any:
    line = sys.stdin.readline()
    return json.loads(line) if line else None


def main() -> None:
    """Carry out one order after the other, until the pipe ends."""
    stop_at = ""

    def hook(step: str) -> None:
        nonlocal stop_at
        if step == stop_at:
            _say("stopped", step)
            order = _next()
            if order is None:
                os._exit(0)
            stop_at = order["stop_at"]

    first = _next()
    subject = {"shipped": Shipped, "ours": Ours}[first["variant"]](first["name"], hook)
    _say("result", None)
    while (order := _next()) is not None:
        stop_at = order["stop_at"]
        try:
            result = getattr(subject, order["do"])(*order["args"])
        except Exception as error:  # noqa: BLE001 - the parent says what it means
            _say("error", [type(error).__name__, str(error)])
        else:
            _say("result", result)


if __name__ == "__main__":
    main()
