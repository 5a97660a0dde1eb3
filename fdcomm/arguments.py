"""Arguments of calls, checked before anything is sent: a host that meets a wrong type breaks the call off."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

from fdcomm.errors import ConfigError

__all__ = ("changes", "function", "number", "number_or_none", "text")


def number(value: Any, what: str, operation: str) -> int:
    """Return a whole number, NumPy's too, as an int; ConfigError for everything else, truth values too."""
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise ConfigError(f"{operation}: {what}={value!r} is no whole number", operation=operation) from None


def number_or_none(value: Any, what: str, operation: str) -> int | None:
    """Return the same; None stays None."""
    return None if value is None else number(value, what, operation)


def text(value: Any, what: str, operation: str) -> str:
    """Return a string; ConfigError for everything else."""
    if not isinstance(value, str):
        raise ConfigError(f"{operation}: {what}={value!r} is no string", operation=operation)
    return value


def changes(seen: Any, operation: str) -> int:
    """Return how many changes an earlier answer knows of, -1 for None; ConfigError for what is no such answer."""
    if seen is None:
        return -1
    if not isinstance(seen, Mapping) or "changes" not in seen:
        raise ConfigError(f"{operation}: seen={seen!r} is no answer of watch() or statistics()", operation=operation)
    return number(seen["changes"], "changes", operation)


def function(value: Any, what: str, operation: str) -> None:
    """Raise ConfigError for what cannot be called."""
    if not callable(value):
        raise ConfigError(f"{operation}: {what}={value!r} cannot be called", operation=operation)
