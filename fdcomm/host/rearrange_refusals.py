"""The errors about rearrangements that a host answers with: what happened, who is missing, what to do."""

from __future__ import annotations

from fdcomm.core.rearrange import Outcome, Rearrange
from fdcomm.errors import (
    CommTimeoutError,
    ConfigError,
    DuplicateRankError,
    ProtocolViolationError,
    RankError,
    RearrangeBusyError,
    RearrangeEndedError,
)
from fdcomm.host.refusals import ranks_in_words

__all__ = (
    "busy",
    "duplicate",
    "ended",
    "lacks",
    "no_rank",
    "no_request",
    "not_loaded",
    "not_now",
    "wait_timeout",
    "workers_missing",
)


def busy(operation: str, core: Rearrange) -> RearrangeBusyError:
    """Another request is running."""
    number = core.request_number
    return RearrangeBusyError(
        f"{operation}: request {number} is running ({core.phase}); wait for its end, then ask again",
        operation=operation,
        request=number,
    )


def ended(operation: str, request: int, outcome: Outcome | None) -> RearrangeEndedError:
    """The call is about a request that is over."""
    if outcome is None:
        how = "it is long over, and its outcome was forgotten"
    elif outcome.what == "done":
        how = "it is done"
    else:
        how = f"it has ended ({outcome.what}): {outcome.reason}"
    return RearrangeEndedError(
        f"{operation}: request {request} is not running: {how}; the call changed nothing",
        operation=operation,
        missing=outcome.missing if outcome else (),
        request=request,
    )


def no_request(operation: str, request: object, last: int) -> ConfigError:
    """There is no such request."""
    return ConfigError(
        f"{operation}: request={request!r} was never made; the last one is {last}", operation=operation, request=request
    )


def lacks(operation: str, request: int, missing: tuple[int, ...], addresses: tuple[str, ...]) -> ProtocolViolationError:
    """The request is declared loaded too early."""
    return ProtocolViolationError(
        f"{operation}: request {request} is not loaded by all: {_lacking(missing, addresses)}; nothing was changed",
        operation=operation,
        missing=missing,
        request=request,
    )


def not_loaded(
    operation: str, request: int, missing: tuple[int, ...], addresses: tuple[str, ...], waited_s: float
) -> CommTimeoutError:
    """The coordinator waited in vain for the ranks. The request goes on."""
    return CommTimeoutError(
        f"{operation}: request {request} is not loaded by all after {waited_s:.3f} s: {_lacking(missing, addresses)}; "
        "it goes on, and ends by its own limit, or when it is called off",
        operation=operation,
        missing=missing,
        waited_s=waited_s,
        request=request,
    )


def not_now(operation: str, request: int, phase: str, what: str) -> ProtocolViolationError:
    """The call does not fit to the state of the running request."""
    return ProtocolViolationError(
        f"{operation}: request {request} is in {phase}: {what}; nothing was changed",
        operation=operation,
        request=request,
    )


def workers_missing(operation: str, request: int, missing: tuple[int, ...], waited_s: float) -> CommTimeoutError:
    """A worker waited in vain for the others."""
    return CommTimeoutError(
        f"{operation}: {_have(missing)} not come to exchange weights for request {request} after {waited_s:.3f} s; "
        "this rank's arrival was taken back, and it may come again",
        operation=operation,
        missing=missing,
        waited_s=waited_s,
        request=request,
    )


def wait_timeout(operation: str, request: int, core: Rearrange, waited_s: float) -> CommTimeoutError:
    """The request is not over yet."""
    missing, addresses = core.lacking() if core.phase == "DOING" else ((), ())
    if core.exchanging():
        missing = tuple(rank for rank, worker in enumerate(core.worker) if worker == "swap")
        lacking = f"{_have(missing)} not exchanged weights"
    else:
        lacking = _lacking(missing, addresses) if missing or addresses else "nothing is known to be wrong"
    return CommTimeoutError(
        f"{operation}: request {request} is not over after {waited_s:.3f} s; it is in {core.phase}: {lacking}",
        operation=operation,
        missing=missing,
        waited_s=waited_s,
        request=request,
    )


def duplicate(operation: str, party: str, holder: str, rank: int | None) -> DuplicateRankError:
    """Another live handle is this party."""
    return DuplicateRankError(
        f"{operation}: {party} is {holder}; close that handle first",
        operation=operation,
        missing=() if rank is None else (rank,),
    )


def no_rank(operation: str) -> RankError:
    """The handle has no rank."""
    return RankError(f"{operation}: this handle has no client_id; open one with the rank's", operation=operation)


def _lacking(missing: tuple[int, ...], addresses: tuple[str, ...]) -> str:
    parts = [f"{_have(missing)} not loaded"] if missing else []
    parts += [f"nothing is known of {', '.join(addresses)}"] if addresses else []
    return "; ".join(parts)


def _have(ranks: tuple[int, ...]) -> str:
    return f"{ranks_in_words(ranks)} {'has' if len(ranks) == 1 else 'have'}"
