"""The errors that a host answers with: what happened, who is missing, what to do."""

from __future__ import annotations

from collections.abc import Collection

from fdcomm.errors import (
    CommTimeoutError,
    DuplicateRankError,
    FencedError,
    HostLostError,
    PeerLostError,
    ProtocolViolationError,
    RankError,
)

__all__ = (
    "duplicate",
    "fenced",
    "get_timeout",
    "no_rank",
    "put_lost",
    "put_timeout",
    "shutting_down",
    "wrong_flag",
)


def put_lost(lost: tuple[int, ...], epoch: int, waited_s: float) -> PeerLostError:
    """Ranks are lost, so a put cannot reach everybody."""
    return PeerLostError(
        f"put_tasks: {_ranks(lost, 'is', 'are')} gone, so nothing was put; restart them and put again",
        operation="put_tasks",
        missing=lost,
        epoch=epoch,
        waited_s=waited_s,
    )


def put_timeout(missing: tuple[int, ...], live: Collection[int], epoch: int, waited_s: float) -> CommTimeoutError:
    """A put waited in vain for ``missing``, some of which may not even be connected."""
    late = tuple(rank for rank in missing if rank in live)
    away = tuple(rank for rank in missing if rank not in live)
    reasons = [f"{_ranks(late, 'has', 'have')} not read the oldest batch"] if late else []
    reasons += [f"{_ranks(away, 'is', 'are')} not connected as readers"] if away else []
    return CommTimeoutError(
        f"put_tasks: gave up after {waited_s:.3f} s, nothing was put: "
        + ("; ".join(reasons) or "older put calls are still waiting"),
        operation="put_tasks",
        missing=missing,
        epoch=epoch,
        waited_s=waited_s,
    )


def get_timeout(rank: int, epoch: int, waited_s: float) -> CommTimeoutError:
    """No batch came for the rank."""
    return CommTimeoutError(
        f"get_tasks: there was no batch for rank {rank} in {waited_s:.3f} s",
        operation="get_tasks",
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


def no_rank(*, producer: bool) -> RankError:
    """The handle reads for no rank."""
    reason = "was opened with role='producer'" if producer else "has no client_id"
    return RankError(f"get_tasks: this handle {reason}; read through a handle of one rank", operation="get_tasks")


def duplicate(rank: int, holder: str) -> DuplicateRankError:
    """Another live reader has the rank."""
    return DuplicateRankError(
        f"rank {rank} is read by {holder}; close that handle first, or give this one another client_id",
        operation="get_tasks",
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


def _ranks(ranks: tuple[int, ...], one: str, many: str) -> str:
    names = ", ".join(map(str, ranks))
    return f"rank {names} {one}" if len(ranks) == 1 else f"ranks {names} {many}"
