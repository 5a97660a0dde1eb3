"""Time limits of blocking calls. One rule: nothing waits without a bound unless ``None`` was written."""

from __future__ import annotations

import enum
import math
import os
from collections.abc import Callable
from typing import Final, TypeAlias

from fdcomm.errors import ConfigError

__all__ = ("DEFAULT", "Deadline", "Timeout", "default_timeout_s", "seconds_from_environment")


class _Default(enum.Enum):
    DEFAULT = "default"

    def __repr__(self) -> str:
        return "DEFAULT"


DEFAULT: Final = _Default.DEFAULT
"""Marks "no timeout argument was written": the finite default of :func:`default_timeout_s` applies."""

Timeout: TypeAlias = "float | _Default | None"
"""Seconds; ``None`` waits for ever; ``DEFAULT`` takes the configured default."""

_FALLBACK_TIMEOUT_S: Final = 600.0

# 23 days. The system's waits count milliseconds in 32 bits.
_LONGEST_S: Final = 2_000_000.0


def default_timeout_s() -> float:
    """Return the default time limit in seconds: ``FDCOMM_TIMEOUT`` from the environment, else 600."""
    return seconds_from_environment("FDCOMM_TIMEOUT", _FALLBACK_TIMEOUT_S, _LONGEST_S)


def seconds_from_environment(name: str, default: float, most: float) -> float:
    """Return the number of seconds that a variable of the environment has.

    Raises:
        ConfigError: It is not a number from 0 to ``most``.
    """
    text = os.environ.get(name)
    if text is None:
        return default
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= most:
        raise ConfigError(f"{name}={text!r} is not a number of seconds between 0 and {most:.0f}; correct or unset it")
    return value


def timeout_seconds(timeout: Timeout, operation: str) -> float | None:
    """Return the limit in seconds (None: for ever), after checking that it is a finite number >= 0."""
    if type(timeout) is float and 0.0 <= timeout <= _LONGEST_S:
        return timeout
    if timeout is None:
        return None
    if isinstance(timeout, _Default):
        return default_timeout_s()
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 <= timeout <= _LONGEST_S:
        raise ConfigError(
            f"{operation}: timeout={timeout!r} is not a number of seconds >= 0 (and at most {_LONGEST_S:.0f}); write "
            "None to wait for ever",
            operation=operation,
        )
    return float(timeout)


class Deadline:
    """A moment of a monotonic clock by which a call must end.

    The clock is injected (``Runtime.monotonic``), so that tests run on simulated time.
    """

    __slots__ = ("_clock", "_end", "_start")

    def __init__(self, limit_s: float | None, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._start = clock()
        self._end = None if limit_s is None else self._start + limit_s

    def remaining(self) -> float | None:
        """Return the seconds left, never below 0, or None when there is no limit."""
        return None if self._end is None else max(0.0, self._end - self._clock())

    def expired(self) -> bool:
        """Return True once the limit is reached."""
        return self._end is not None and self._clock() >= self._end

    def waited(self) -> float:
        """Return the seconds since the deadline was made."""
        return self._clock() - self._start
