"""The errors that a host answers with: what happened, who is missing, what to do."""

from __future__ import annotations

from collections.abc import Collection

from fdcomm.core.barrier import Ending, Position
from fdcomm.errors import (
    BarrierBrokenError,
    BarrierMismatchError,
    CommTimeoutError,
    DuplicateRankError,
    FdcommError,
    FencedError,
    HostLostError,
    PeerLostError,
    ProtocolViolationError,
    RankError,
    StaleAnswerError,
)

__all__ = (
    "barrier_ended",
    "barrier_timeout",
    "collect_timeout",
    "duplicate",
    "fenced",
    "gate_full",
    "get_timeout",
    "host_gone",
    "late_answer",
    "no_rank",
    "put_lost",
    "put_timeout",
    "ranks_in_words",
    "round_lost",
    "round_overdue",
    "shutting_down",
    "wrong_flag",
)


def put_lost(operation: str, lost: tuple[int, ...], epoch: int, waited_s: float) -> PeerLostError:
    """Ranks are lost, so a put cannot reach everybody."""
    return PeerLostError(
        f"{operation}: {_ranks(lost, 'is', 'are')} gone, so nothing was put; restart them and put again",
        operation=operation,
        missing=lost,
        epoch=epoch,
        waited_s=waited_s,
    )


def put_timeout(
    operation: str, missing: tuple[int, ...], live: Collection[int], epoch: int, waited_s: float
) -> CommTimeoutError:
    """A put waited in vain for ``missing``, some of which may not even be connected."""
    late = tuple(rank for rank in missing if rank in live)
    away = tuple(rank for rank in missing if rank not in live)
    reasons = [f"{_ranks(late, 'has', 'have')} not read the oldest item"] if late else []
    reasons += [f"{_ranks(away, 'is', 'are')} not connected as readers"] if away else []
    return CommTimeoutError(
        f"{operation}: gave up after {waited_s:.3f} s, nothing was put: "
        + ("; ".join(reasons) or "older put calls are still waiting"),
        operation=operation,
        missing=missing,
        epoch=epoch,
        waited_s=waited_s,
    )


def get_timeout(operation: str, rank: int, epoch: int, waited_s: float) -> CommTimeoutError:
    """No batch came for the rank."""
    return CommTimeoutError(
        f"{operation}: there was nothing for rank {rank} in {waited_s:.3f} s",
        operation=operation,
        epoch=epoch,
        waited_s=waited_s,
    )


def wrong_flag(flag: bool, num_tasks: int, epoch: int) -> ProtocolViolationError:
    """The caller wants the exist flag to say what is not so."""
    return ProtocolViolationError(
        f"set_exist_tasks({flag}): the queue holds {num_tasks} unread batches, and the flag follows them by itself; "
        "use put_tasks() to raise it, get_tasks() or clear_data() to lower it",
        operation="set_exist_tasks",
        epoch=epoch,
    )


def no_rank(operation: str, *, producer: bool) -> RankError:
    """The handle reads for no rank."""
    reason = "was opened with role='producer'" if producer else "has no client_id"
    return RankError(f"{operation}: this handle {reason}; call it through a handle of one rank", operation=operation)


def duplicate(operation: str, rank: int, holder: str) -> DuplicateRankError:
    """Another live reader has the rank."""
    return DuplicateRankError(
        f"{operation}: rank {rank} is held by {holder}; close that handle first, or give this one another client_id",
        operation=operation,
        missing=(rank,),
    )


def fenced(operation: str, epoch: int | None = None) -> FencedError:
    """The session is not known (any more)."""
    return FencedError(
        f"{operation}: the host does not know this handle any more (its connection was lost, or it was closed while "
        "the call waited); open a new one",
        operation=operation,
        epoch=epoch,
    )


def shutting_down(operation: str) -> HostLostError:
    """The host ends."""
    return HostLostError(f"{operation}: the host is shutting down", operation=operation)


def host_gone(operation: str) -> HostLostError:
    """The host is dead, or has lost the handle."""
    return HostLostError(
        f"{operation}: the host is gone, or this handle has lost it; open a new handle (and start a new host if that "
        "fails)",
        operation=operation,
    )


def barrier_ended(operation: str, ending: Ending, round_: int | None, waited_s: float) -> FdcommError:
    """A wait that ended without a pass; ``round_`` is what it was for."""
    if ending.outcome == "lost":
        return PeerLostError(
            f"{operation}: {_ranks(ending.ranks, 'is', 'are')} gone, so round {ending.round} cannot complete; restart "
            "what is gone, then wait again",
            operation=operation,
            missing=ending.ranks,
            epoch=ending.round,
            waited_s=waited_s,
        )
    if ending.outcome == "mismatch":
        return BarrierMismatchError(
            f"{operation}: the ranks are not in the same round: {', '.join(map(_position, ending.positions))} (the "
            f"barrier is in round {ending.round}); none of them can go on",
            operation=operation,
            missing=tuple(at.rank for at in ending.positions),
            epoch=ending.round,
            waited_s=waited_s,
        )
    if ending.outcome == "over":
        return BarrierMismatchError(
            f"{operation}: round {round_} is over, all ranks have passed it; the barrier is in round {ending.round}",
            operation=operation,
            epoch=ending.round,
            waited_s=waited_s,
        )
    return BarrierBrokenError(
        f"{operation}: the barrier was aborted in round {ending.round}; reset() makes it usable again",
        operation=operation,
        epoch=ending.round,
        waited_s=waited_s,
    )


def barrier_timeout(
    operation: str, missing: tuple[int, ...], live: Collection[int], generation: int, waited_s: float
) -> CommTimeoutError:
    """Not everybody arrived in time."""
    away = tuple(rank for rank in missing if rank not in live)
    hint = f" ({_ranks(away, 'has', 'have')} no handle that waits here)" if away else ""
    return CommTimeoutError(
        f"{operation}: {_ranks(missing, 'has', 'have')} not arrived in round {generation} "
        f"after {waited_s:.3f} s{hint}; "
        "this rank's arrival was taken back",
        operation=operation,
        missing=missing,
        epoch=generation,
        waited_s=waited_s,
    )


def _position(at: Position) -> str:
    label = f" with label {at.label!r}" if at.label else ""
    return f"rank {at.rank} at {at.barrier}{label}" + (f" for round {at.round}" if at.round is not None else "")


def gate_full(
    operation: str, request: object, missing: tuple[int, ...], own: bool, waited_s: float
) -> CommTimeoutError:
    """An answer found no room in time, or (``own``) its rank has answered the open round of this request."""
    reason = (
        f"this rank has answered it before, and that round is not over ({_unanswered(missing)})"
        if own
        else f"too many rounds are open ({_unanswered(missing)})"
    )
    return CommTimeoutError(
        f"{operation}: gave up after {waited_s:.3f} s, the answer to request {request!r} was not put: {reason}",
        operation=operation,
        missing=missing,
        waited_s=waited_s,
        request=request,
    )


def collect_timeout(operation: str, request: object, missing: tuple[int, ...], waited_s: float) -> CommTimeoutError:
    """No round became complete in time; the open ones stay open."""
    reason = f"{_ranks(missing, 'has', 'have')} not answered request {request!r}" if missing else "no rank has answered"
    return CommTimeoutError(
        f"{operation}: no round was complete after {waited_s:.3f} s: {reason}; nothing was ended",
        operation=operation,
        missing=missing,
        waited_s=waited_s,
        request=request,
    )


def late_answer(operation: str, request: object, rank: int) -> StaleAnswerError:
    """An answer for a round that has ended."""
    return StaleAnswerError(
        f"{operation}: a round of request {request!r} had ended without rank {rank}, so this answer was dropped and "
        "counts for no later round; only if it answers a newer request with the same id, put it again",
        operation=operation,
        missing=(rank,),
        request=request,
    )


def round_lost(
    operation: str, request: object, missing: tuple[int, ...], lost: tuple[int, ...], waited_s: float
) -> PeerLostError:
    """A round that was given up because ranks are gone that had not answered."""
    return PeerLostError(
        f"{operation}: {_ranks(lost, 'was', 'were')} lost before answering request {request!r}, so its round was "
        f"ended ({_unanswered(missing)}); restart the rank, then make the request again",
        operation=operation,
        missing=missing,
        waited_s=waited_s,
        request=request,
    )


def round_overdue(operation: str, request: object, missing: tuple[int, ...], waited_s: float) -> CommTimeoutError:
    """A round that was given up because answers did not come in time."""
    return CommTimeoutError(
        f"{operation}: {_ranks(missing, 'has', 'have')} not answered request {request!r} within {waited_s:.3f} s; its "
        "round was ended, and answers that still come for it are refused",
        operation=operation,
        missing=missing,
        waited_s=waited_s,
        request=request,
    )


def _unanswered(missing: tuple[int, ...]) -> str:
    return f"{_ranks(missing, 'has', 'have')} not answered" if missing else "all have answered, and nobody collects"


def ranks_in_words(ranks: tuple[int, ...]) -> str:
    """Return "rank 1", or "ranks 1, 2"."""
    return f"rank{'' if len(ranks) == 1 else 's'} {', '.join(map(str, ranks))}"


def _ranks(ranks: tuple[int, ...], one: str, many: str) -> str:
    return f"{ranks_in_words(ranks)} {one if len(ranks) == 1 else many}"
