"""FaultRuntime: stops, kills or fails a process at the k-th passage of a named point.

Points of a client: ``call.send``, ``call.sent``, ``call.received``. Points of a host: ``PutTasks.enter``,
``GetTasks.enter``, ``Clear.enter``, ``PutAnswer.enter``, ``Collect.enter``, ``Arrive.enter``, and ``<Action>.done``
inside the critical section of each action of each protocol.

A host that is started while ``FDCOMM_FAULTS`` is set runs on this runtime, with these faults; without it, a host does
not import this module.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, cast, get_args

from fdcomm.errors import ConfigError
from fdcomm.runtime import SystemRuntime

__all__ = ("VARIABLE", "Fault", "FaultInjected", "FaultRuntime", "Kind", "as_text", "from_text")

VARIABLE: Final = "FDCOMM_FAULTS"

Kind = Literal["kill", "stop", "raise", "interrupt", "pause", "tell"]


class FaultInjected(Exception):
    """What a point with the fault ``raise`` raises. No error of fdcomm, so that no handler takes it for one."""


@dataclass(frozen=True)
class Fault:
    """One fault.

    Args:
        point: Name of the point.
        kind: ``kill``: SIGKILL to this process. ``stop``: SIGSTOP (its parent may continue it). ``raise``:
            FaultInjected. ``interrupt``: KeyboardInterrupt, as by Ctrl-C. ``pause``: the thread waits for
            :meth:`FaultRuntime.release`. ``tell``: the runtime's ``tell`` is called with the name of the point.
        hit: At which passage of the point, counted from 1 over all threads.
    """

    point: str
    kind: Kind
    hit: int = 1

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ConfigError(f"fault {self.kind!r} must be one of {', '.join(get_args(Kind))}")
        if not self.point or any(mark in self.point for mark in "=:;"):
            raise ConfigError(f"fault point {self.point!r} must be a name without '=', ':' and ';'")
        if isinstance(self.hit, bool) or not isinstance(self.hit, int) or self.hit < 1:
            raise ConfigError(f"fault at {self.point}: hit={self.hit!r} must be an integer of at least 1")


def as_text(faults: Iterable[Fault]) -> str:
    """Return the value of ``FDCOMM_FAULTS`` for these faults: ``call.sent:2=kill;GetTasks.done:1=stop``."""
    return ";".join(f"{fault.point}:{fault.hit}={fault.kind}" for fault in faults)


def from_text(text: str) -> tuple[Fault, ...]:
    """Return the faults of such a text. The ``:hit`` may be left out."""
    faults = []
    for part in filter(None, (part.strip() for part in text.split(";"))):
        where, equals, kind = part.partition("=")
        point, colon, hit = where.partition(":")
        if not equals or (colon and not hit.isdecimal()):
            raise ConfigError(f"{VARIABLE}: {part!r} must look like 'call.sent=kill' or 'call.sent:2=kill'")
        faults.append(Fault(point, cast("Kind", kind), int(hit) if colon else 1))
    return tuple(faults)


class FaultRuntime(SystemRuntime):
    """The standard library, with faults at named points. Thread-safe.

    Args:
        faults: What is armed from the start.
        tell: Called by a fault ``tell``, in the thread that reached the point.
    """

    def __init__(self, faults: Iterable[Fault] = (), tell: Callable[[str], None] = lambda point: None) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        self._faults: dict[tuple[str, int], Fault] = {}
        self._passed: Counter[str] = Counter()
        self._reached: dict[str, threading.Event] = {}
        self._released: dict[str, threading.Event] = {}
        for fault in faults:
            self.arm(fault)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> FaultRuntime:
        """Return a runtime with the faults of ``FDCOMM_FAULTS``, so that a parent can arm a child."""
        return cls(from_text((os.environ if environment is None else environment).get(VARIABLE, "")))

    def arm(self, fault: Fault) -> None:
        """Add a fault. Its ``hit`` counts passages from the start of the process, not from now."""
        with self._lock:
            self._faults[fault.point, fault.hit] = fault
            if fault.kind == "pause":
                self._reached.setdefault(fault.point, threading.Event())
                self._released.setdefault(fault.point, threading.Event())

    def arm_next(self, point: str, kind: Kind) -> None:
        """Add a fault for the next passage of a point."""
        self.arm(Fault(point, kind, self.passages(point) + 1))

    def passages(self, point: str) -> int:
        """Return how often the point has been passed or reached."""
        with self._lock:
            return self._passed[point]

    def point(self, name: str) -> None:
        """See :class:`fdcomm.runtime.Runtime`."""
        with self._lock:
            self._passed[name] += 1
            fault = self._faults.pop((name, self._passed[name]), None)
        if fault is None:
            return
        if fault.kind == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif fault.kind == "stop":
            os.kill(os.getpid(), signal.SIGSTOP)
        elif fault.kind == "raise":
            raise FaultInjected(f"{name}, passage {fault.hit}")
        elif fault.kind == "interrupt":
            raise KeyboardInterrupt(name)
        elif fault.kind == "tell":
            self._tell(name)
        else:
            self._reached[name].set()
            self._released[name].wait()

    def wait_until_reached(self, point: str, timeout: float) -> bool:
        """Wait until some thread pauses at the point. Returns False when ``timeout`` seconds have passed."""
        return self._paused(self._reached, point).wait(timeout)

    def release(self, point: str) -> None:
        """Let threads that pause at the point, now or later, go on."""
        self._paused(self._released, point).set()

    def _paused(self, events: Mapping[str, threading.Event], point: str) -> threading.Event:
        with self._lock:
            if point not in events:
                raise ConfigError(f"no pause is armed at {point!r}")
            return events[point]
