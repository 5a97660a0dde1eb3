"""How the answers of all ranks become one, and by what a request is known. Pure.

Answers are combined after their round has left the gate, so an error here blocks nobody.
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Mapping
from typing import Any

from fdcomm.errors import ConfigError, InconsistentAnswersError, PayloadTooLargeError

__all__ = ("all_succeeded", "error_wins", "first_of_equal", "request_key")

_LONGEST_KEY = 1 << 20


def all_succeeded(answers: list[Any], operation: str) -> dict[str, Any]:
    """Return rank 0's response, with ``"success"`` True only if it is so in all."""
    for answer in answers:
        if not isinstance(answer, Mapping) or "success" not in answer:
            raise InconsistentAnswersError(
                f"{operation}: the response {answer!r} has no 'success'", operation=operation
            )
    return {**answers[0], "success": all(bool(answer["success"]) for answer in answers)}


def error_wins(answers: list[Any], operation: str) -> list[Any]:
    """Return ``[request_id, status]`` with the first status that contains "error", else rank 0's status."""
    del operation
    failed = next((answer for answer in answers if "error" in str(answer[1])), answers[0])
    return [answers[0][0], failed[1]]


def first_of_equal(answers: list[Any], operation: str) -> list[Any]:
    """Return the list that all ranks have given."""
    if any(answer != answers[0] for answer in answers):
        raise InconsistentAnswersError(f"{operation}: the ranks answered differently: {answers}", operation=operation)
    return list(answers[0])


def request_key(value: object, operation: str) -> Any:
    """Return the key by which the host knows a request: the same for every rank whose id is equal.

    Raises:
        ConfigError: The id is not a string, an integer, None, or a list or tuple of these.
        PayloadTooLargeError: It is longer than 1 MiB.
    """
    key = _plain(value, operation)
    if _length(key) > _LONGEST_KEY:
        raise PayloadTooLargeError(f"{operation}: the id has more than {_LONGEST_KEY} characters", operation=operation)
    return key


def _plain(value: object, operation: str) -> Any:
    if value is None or type(value) in (str, int):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (list, tuple)):
        return tuple(_plain(part, operation) for part in value)
    if type(value).__name__ not in ("bool", "bool_"):  # numpy's are no bool, and some of them pass for an index
        with contextlib.suppress(TypeError):
            return operator.index(value)  # type: ignore[arg-type]  # numpy's integers, for example
    raise ConfigError(
        f"{operation}: the id {value!r} must be a string, an integer, None, or a list of these: all ranks have to "
        "name a request alike",
        operation=operation,
    )


def _length(key: Any) -> int:
    if isinstance(key, tuple):
        return sum(1 + _length(part) for part in key)
    return len(key) if isinstance(key, str) else 8
