"""How the answers of all ranks become one. Pure; called after the round has been taken, so an error blocks nobody."""

from __future__ import annotations

from typing import Any

from fdcomm.errors import InconsistentAnswersError

__all__ = ("all_succeeded", "error_wins", "first_of_equal")


def all_succeeded(answers: list[Any], operation: str) -> dict[str, Any]:
    """Return the first response, with ``"success"`` True only if it is so in all."""
    del operation
    return {**answers[0], "success": all(bool(answer["success"]) for answer in answers)}


def error_wins(answers: list[Any], operation: str) -> list[Any]:
    """Return ``[request_id, status]`` with the first status that contains "error", else the first status."""
    del operation
    failed = next((answer for answer in answers if "error" in str(answer[1])), answers[0])
    return [answers[0][0], failed[1]]


def first_of_equal(answers: list[Any], operation: str) -> list[Any]:
    """Return the list that all ranks have given."""
    if any(answer != answers[0] for answer in answers):
        raise InconsistentAnswersError(f"{operation}: the ranks answered differently: {answers}", operation=operation)
    return list(answers[0])
