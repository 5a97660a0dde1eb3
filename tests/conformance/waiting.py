"""Calls that wait, in threads; and waiting for a fact instead of for a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from fdcomm.errors import FdcommError

__all__ = ("Background", "until")

WATCHDOG_S = 60.0


class Background:
    """A call in a thread of its own."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call = call
        self._value: Any = None
        self._error: FdcommError | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._value = self._call()
        except FdcommError as error:
            self._error = error

    def is_running(self) -> bool:
        """Return True while it has not ended."""
        return self._thread.is_alive()

    def error(self) -> FdcommError | None:
        """Wait for its end and return what it raised."""
        self._thread.join(WATCHDOG_S)
        if self._thread.is_alive():
            raise RuntimeError(f"a call has not ended for {WATCHDOG_S:.0f} s")
        return self._error

    def value(self) -> Any:
        """Wait for its end and return its value, or raise what it raised."""
        error = self.error()
        if error is not None:
            raise error
        return self._value


def until(fact: Callable[[], bool], what: str = "it") -> None:
    """Look until ``fact()`` holds. The limit is a watchdog: what is awaited depends on other threads only."""
    end = time.monotonic() + WATCHDOG_S
    pause = threading.Event()
    while not fact():
        if time.monotonic() > end:
            raise RuntimeError(f"{what} has not happened for {WATCHDOG_S:.0f} s")
        pause.wait(0.0005)
