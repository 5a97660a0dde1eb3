"""A runtime under which a waiting call wakes only when the driver says so: every order of wake-ups can be made.

One thread runs at a time. A call that may wait has a thread of its own; the driver hands it the baton and gets it
back when the call ends or goes to sleep. A sleeping call may be woken late, or without reason, as the real one may.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from fdcomm.errors import FdcommError
from fdcomm.runtime import Condition, SystemRuntime

__all__ = ("GatedCall", "GatedRuntime")

_WATCHDOG_S = 60.0


class GatedCall:
    """A call in a thread of its own, under way until ``done``.

    Attributes:
        result: What it returned.
        error: What it raised.
        notified: It sleeps, and its condition was notified since it fell asleep.
        expired: Its time limit counts as reached.
    """

    def __init__(self, runtime: GatedRuntime, target: Callable[[], Any]) -> None:
        self.done = False
        self.result: Any = None
        self.error: BaseException | None = None
        self.notified = False
        self.expired = False
        self.asleep_on: _GatedCondition | None = None
        self._runtime = runtime
        self._target = target
        self._go = threading.Semaphore(0)
        self._back = threading.Semaphore(0)
        self._thread = threading.Thread(target=self._run, name="gated call", daemon=True)
        self._thread.start()
        self.wake()

    def wake(self) -> None:
        """Let it run until it ends or sleeps again."""
        before, self._runtime.running = self._runtime.running, self
        self.notified = False
        self._go.release()
        if not self._back.acquire(timeout=_WATCHDOG_S):
            raise RuntimeError(f"a call has not come back for {_WATCHDOG_S:.0f} s: it waits for something else")
        self._runtime.running = before
        if self.done:
            self._thread.join()

    def sleep(self, condition: _GatedCondition) -> None:
        """In the call's thread: give the baton back, and take it again."""
        self.asleep_on = condition
        self._back.release()
        self._go.acquire()
        self.asleep_on = None

    def _run(self) -> None:
        self._go.acquire()
        try:
            self.result = self._target()
        except FdcommError as error:
            self.error = error
        finally:
            self.done = True
            self._back.release()


class GatedRuntime(SystemRuntime):
    """See the module. Time stands still, except that a call may be told that its limit is reached."""

    def __init__(self) -> None:
        self.running: GatedCall | None = None
        self.calls: list[GatedCall] = []

    def start(self, target: Callable[[], Any]) -> GatedCall:
        """Run a call until it ends or sleeps."""
        call = GatedCall(self, target)
        self.calls = [other for other in (*self.calls, call) if not other.done]
        return call

    def condition(self, partner: Condition | None = None) -> Any:
        return _GatedCondition(self, partner.lock if isinstance(partner, _GatedCondition) else _Lock())

    def monotonic(self) -> float:
        return 1e9 if self.running is not None and self.running.expired else 0.0


class _Lock:
    held = False


class _GatedCondition:
    def __init__(self, runtime: GatedRuntime, lock: _Lock) -> None:
        self._runtime = runtime
        self.lock = lock

    def __enter__(self) -> bool:
        if self.lock.held:
            raise RuntimeError("a critical section was entered inside another one")
        self.lock.held = True
        return True

    def __exit__(self, *exc: Any) -> None:
        self.lock.held = False

    def wait(self, timeout: float | None = None) -> bool:
        call = self._runtime.running
        if not self.lock.held or call is None:
            raise RuntimeError("wait without the lock, or in a call that should not have waited")
        self.lock.held = False
        call.sleep(self)
        self.lock.held = True
        return True

    def notify_all(self) -> None:
        if not self.lock.held:
            raise RuntimeError("notify without the lock")
        for call in self._runtime.calls:
            call.notified = call.notified or call.asleep_on is self
