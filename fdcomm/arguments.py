"""Arguments of calls, checked before anything is sent: a host that meets a wrong type breaks the call off."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Mapping
from typing import Any

from fdcomm.errors import ConfigError

__all__ = (
    "changes",
    "file_path",
    "flag",
    "function",
    "is_truth",
    "number",
    "number_or_none",
    "several",
    "text",
    "texts",
    "whole",
)


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


def is_truth(value: Any) -> bool:
    """Return True for a truth value, NumPy's too."""
    return type(value).__name__ in ("bool", "bool_")


def flag(value: Any, what: str, operation: str) -> bool:
    """Return a truth value, NumPy's too, as a bool; ConfigError for everything else, also what would count as true."""
    if not is_truth(value):
        raise ConfigError(f"{operation}: {what}={value!r} must be True or False", operation=operation)
    return bool(value)


def whole(value: Any) -> Any:
    """Return a whole number, NumPy's too, as an int, and everything else as it is: the caller refuses that."""
    try:
        return value if is_truth(value) else operator.index(value)
    except TypeError:
        return value


def file_path(value: Any, what: str, operation: str) -> str:
    """Return the absolute path of a file, "" for ""; ConfigError for what cannot be the name of one."""
    try:
        name = os.fsdecode(value)
        if b"\0" in os.fsencode(name):
            raise ValueError
    except (TypeError, ValueError):
        raise ConfigError(f"{operation}: {what}={value!r} is no path of a file", operation=operation) from None
    return os.path.abspath(name) if name else ""


def changes(seen: Any, operation: str) -> int:
    """Return how many changes an earlier answer knows of, -1 for None; ConfigError for what is no such answer."""
    if seen is None:
        return -1
    if not isinstance(seen, Mapping) or "changes" not in seen:
        raise ConfigError(f"{operation}: seen={seen!r} is no answer of watch() or statistics()", operation=operation)
    return number(seen["changes"], "changes", operation)


def several(value: Any, what: str, operation: str) -> tuple[Any, ...]:
    """Return what is in a list or another iterable; ConfigError for everything else, a string too."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise ConfigError(f"{operation}: {what}={value!r} must be a list", operation=operation)
    return tuple(value)


def texts(value: Any, what: str, operation: str) -> tuple[str, ...]:
    """Return several strings; ConfigError for everything else, a single string too."""
    return tuple(text(one, what, operation) for one in several(value, what, operation))


def function(value: Any, what: str, operation: str) -> None:
    """Raise ConfigError for what cannot be called."""
    if not callable(value):
        raise ConfigError(f"{operation}: {what}={value!r} cannot be called", operation=operation)
