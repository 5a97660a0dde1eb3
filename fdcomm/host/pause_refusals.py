"""What the pause channel says when it refuses."""

from __future__ import annotations

from fdcomm.errors import (
    CommTimeoutError,
    NotPausedError,
    PauseEndedError,
    ProtocolViolationError,
    RequestCancelledError,
    StalePauseError,
)
from fdcomm.host.refusals import ranks_in_words

__all__ = (
    "cannot_resume",
    "does_not_hold",
    "given_up",
    "not_paused",
    "not_quiet",
    "not_resumed",
    "pause_ended",
    "stale_pause",
)


def not_quiet(operation: str, missing: tuple[int, ...], waited_s: float) -> CommTimeoutError:
    """Jobs still run."""
    return CommTimeoutError(
        f"{operation}: after {waited_s:.1f} s jobs may still run in {ranks_in_words(missing)}; the pause stays "
        "ordered: call pause again to go on waiting, pause('abort') to tell the jobs to end, or cancel_pause() to give "
        "it up",
        operation=operation,
        missing=missing,
        waited_s=waited_s,
    )


def pause_ended(operation: str, waited_s: float) -> PauseEndedError:
    """Another client ended it."""
    return PauseEndedError(
        f"{operation}: another client cancelled or ended the pause after {waited_s:.1f} s, before this call saw it "
        "reached; jobs may run",
        operation=operation,
        waited_s=waited_s,
    )


def stale_pause(operation: str, began: int, latest: int) -> StalePauseError:
    """The token is of an earlier pause."""
    return StalePauseError(
        f"{operation}: the pause {began} is over; pause {latest} is in force and belongs to another client",
        operation=operation,
    )


def cannot_resume(operation: str, missing: tuple[int, ...], holders: int, waited_s: float) -> CommTimeoutError:
    """The pause cannot be ended yet."""
    why = f"{holders} client(s) hold the pause, or wait for it"
    if missing:
        why = f"jobs may still run in {ranks_in_words(missing)}"
    return CommTimeoutError(
        f"{operation}: after {waited_s:.1f} s the pause cannot end: {why}",
        operation=operation,
        missing=missing,
        waited_s=waited_s,
    )


def not_resumed(operation: str, behind: tuple[int, ...], waited_s: float) -> CommTimeoutError:
    """Ranks have not taken the order to run."""
    return CommTimeoutError(
        f"{operation}: after {waited_s:.1f} s {ranks_in_words(behind)} had not taken the order to run; it stays "
        "ordered",
        operation=operation,
        missing=behind,
        waited_s=waited_s,
    )


def given_up(operation: str, waited_s: float) -> RequestCancelledError:
    """Nobody wants to wait any more."""
    return RequestCancelledError(
        f"{operation}: given up after {waited_s:.1f} s, because its process asked for that; what was ordered stays "
        "ordered",
        operation=operation,
        waited_s=waited_s,
    )


def not_paused(operation: str, missing: tuple[int, ...]) -> NotPausedError:
    """Nothing to hold."""
    why = f"jobs may still run in {ranks_in_words(missing)}" if missing else "no such pause is in force"
    return NotPausedError(f"{operation}: {why}; hold a pause after pause() has returned", operation=operation)


def does_not_hold(operation: str) -> ProtocolViolationError:
    """Somebody lets go of what it does not hold."""
    return ProtocolViolationError(f"{operation}: this session does not hold the pause", operation=operation)
