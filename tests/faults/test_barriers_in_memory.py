"""Barriers whose ranks meet in shared memory: what the host does for them, and how handles and processes end there."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from fdcomm import (
    BarrierBrokenError,
    BarrierMismatchError,
    ClosedError,
    EngineCacheQueue,
    FencedError,
    HostLostError,
    PeerLostError,
)
from fdcomm.barrier import RankBarrier
from fdcomm.errors import FdcommError
from fdcomm.host.rings import meetings
from fdcomm.meeting.layout import MOST_RANKS
from fdcomm.session import DataPathName
from tests.conformance.waiting import Background
from tests.faults.remote import LIMIT_S, Remote, host_pid, until

NAME = "pause_barrier"
WAYS = ["ring", "host"]


@pytest.fixture
def server() -> Iterator[EngineCacheQueue]:
    """A host for three ranks."""
    with EngineCacheQueue(("0.0.0.0", 0), is_server=True, num_client=3, data_path="ring") as queue:
        yield queue


class Ranks:
    """Handles of ranks in this process; rank 1 does not reach the memory."""

    def __init__(self, server: EngineCacheQueue, undo: ExitStack) -> None:
        self._server, self._undo = server, undo

    def open(self, rank: int, way: DataPathName = "ring") -> RankBarrier:
        """Open a handle; return its barrier."""
        queue = EngineCacheQueue(self._server.address, num_client=3, client_id=rank, data_path=way)
        return self._undo.enter_context(queue).pause_barrier


@pytest.fixture
def ranks(server: EngineCacheQueue) -> Iterator[Ranks]:
    """What opens them."""
    with ExitStack() as undo:
        yield Ranks(server, undo)


def _waiting(server: EngineCacheQueue, *barriers: RankBarrier, label: str = "") -> list[Background]:
    waits = [Background(lambda b=barrier: b.wait(LIMIT_S, label=label)) for barrier in barriers]  # type: ignore[misc]
    until(lambda: server.pause_barrier.n_waiting == len(waits), "they wait")
    return waits


def _kinds(waits: list[Background]) -> list[type[FdcommError] | None]:
    return [None if (error := wait.error()) is None else type(error) for wait in waits]


@pytest.mark.parametrize("way", WAYS)
def test_a_late_reset_undoes_no_abort_that_its_rank_was_not_told_of(
    server: EngineCacheQueue, ranks: Ranks, way: DataPathName
) -> None:
    one = ranks.open(0, way)
    waits = _waiting(server, one)
    server.pause_barrier.abort()
    assert _kinds(waits) == [BarrierBrokenError]
    server.pause_barrier.reset()
    server.pause_barrier.abort()
    one.reset()  # it is about the first abort
    assert [server.pause_barrier.broken] == [True]
    with pytest.raises(BarrierBrokenError):
        one.wait(LIMIT_S)
    one.reset()
    assert [server.pause_barrier.broken] == [False]
    server.pause_barrier.abort()
    assert [one.broken] == [True]  # who looks is told
    one.reset()
    assert [server.pause_barrier.broken] == [False]


def test_the_host_dies_while_ranks_wait_on_both_ways(server: EngineCacheQueue, ranks: Ranks) -> None:
    zero = ranks.open(0)
    waits = _waiting(server, zero, ranks.open(1, "host"))
    os.kill(host_pid(server), signal.SIGKILL)  # type: ignore[arg-type]
    first, second = (wait.error() for wait in waits)
    assert isinstance(second, HostLostError)
    # The kernel may free what rank 1 was waited for with before it closes the host's connections.
    assert isinstance(first, HostLostError) or (isinstance(first, PeerLostError) and first.missing == (1,))
    assert isinstance(Background(lambda: _until_lost(zero)).error(), HostLostError)


def _until_lost(barrier: RankBarrier) -> None:
    while True:
        with contextlib.suppress(PeerLostError):
            barrier.wait(LIMIT_S)


def test_the_host_ends_in_order_while_ranks_wait(server: EngineCacheQueue, ranks: Ranks) -> None:
    waits = _waiting(server, ranks.open(0), ranks.open(1, "host"))
    server.close()
    assert _kinds(waits) == [HostLostError, HostLostError]


@pytest.mark.parametrize("way", WAYS)
def test_a_handle_is_closed_while_it_waits(server: EngineCacheQueue, ranks: Ranks, way: DataPathName) -> None:
    """Its arrival goes, the others wait on, and the next handle of the rank meets them."""
    waits = _waiting(server, ranks.open(0), ranks.open(1, "host"))
    with EngineCacheQueue(server.address, num_client=3, client_id=2, data_path=way) as queue:
        server.pause_barrier.abort()
        _kinds(waits)
        server.pause_barrier.reset()
        mine = Background(lambda: queue.pause_barrier.wait(LIMIT_S))
        until(lambda: server.pause_barrier.n_waiting == 1, "it waits")
    assert type(mine.error()) in (ClosedError, FencedError)
    assert server.pause_barrier.n_waiting == 0
    assert server.pause_barrier._view()["away"] == [2]
    again = ranks.open(2, way)
    assert isinstance(Background(lambda: again.wait(0)).error(), TimeoutError)


@pytest.mark.parametrize("way", WAYS)
def test_a_process_is_killed_while_it_waits(server: EngineCacheQueue, ranks: Ranks, way: DataPathName) -> None:
    """The others are told at once, and its successor meets them."""
    one, two = ranks.open(1, "host"), ranks.open(2)
    with Remote() as process:
        process.open(server.get_server_port(), queue="EngineCacheQueue", num_client=3, client_id=0, data_path=way)
        process.send("call", f"{NAME}.wait", LIMIT_S)
        told = Background(lambda: one.wait(LIMIT_S))
        until(lambda: server.pause_barrier.n_waiting == 2, "two wait")
        process.kill()
        error = told.error()
    assert (type(error), error and error.missing) == (PeerLostError, (0,))
    with pytest.raises(PeerLostError):
        two.wait(LIMIT_S)
    waits = _waiting(server, ranks.open(0, way))
    assert [wait.value() for wait in [*waits, *_more(one, two)]] == [0, 1, 2]


def _more(*barriers: RankBarrier) -> list[Background]:
    return [Background(lambda b=barrier: b.wait(LIMIT_S)) for barrier in barriers]  # type: ignore[misc]


def test_a_wait_names_its_round(server: EngineCacheQueue, ranks: Ranks) -> None:
    """All are told of a rank that is ahead, on whatever way; a wait for a round that is over touches nobody."""
    zero, one, two = ranks.open(0), ranks.open(1, "host"), ranks.open(2)
    for ahead in (two, one):
        others = [barrier for barrier in (zero, one, two) if barrier is not ahead]
        waits = _waiting(server, *others)
        with pytest.raises(BarrierMismatchError, match="round 7"):
            ahead.wait(LIMIT_S, generation=7)
        assert _kinds(waits) == [BarrierMismatchError] * 2
    waits = _waiting(server, zero, one)
    assert two.wait(LIMIT_S, generation=0) == 2
    assert [wait.value() for wait in waits] == [0, 1]
    waits = _waiting(server, zero)
    for late in (one, two):
        with pytest.raises(BarrierMismatchError, match="round 0 is over"):
            late.wait(LIMIT_S, generation=0)
    assert server.pause_barrier.n_waiting == 1
    assert sorted(wait.value() for wait in [*waits, *_more(one, two)]) == [0, 1, 2]


def test_labels_of_any_length(server: EngineCacheQueue, ranks: Ranks) -> None:
    barriers = [ranks.open(0), ranks.open(1, "host"), ranks.open(2)]
    for label in ("é" * 500, "\ud800"):
        waits = [Background(lambda b=b: b.wait(LIMIT_S, label=label)) for b in barriers]  # type: ignore[misc]  # noqa: B023
        assert [wait.value() for wait in waits] == [0, 1, 2]
    waits = _waiting(server, *barriers[:2], label="é" * 500)
    assert isinstance(Background(lambda: barriers[2].wait(LIMIT_S, label="é" * 499)).error(), BarrierMismatchError)
    assert _kinds(waits) == [BarrierMismatchError] * 2


def test_who_is_interrupted_counts_as_lost(server: EngineCacheQueue, ranks: Ranks) -> None:
    """Nobody passes with an arrival that nobody stands for."""
    waits = _waiting(server, ranks.open(0), ranks.open(1, "host"))
    with EngineCacheQueue(server.address, num_client=3, client_id=2, data_path="ring") as queue:
        queue.pause_barrier.n_waiting  # noqa: B018 - opens this thread's connection
        _interrupt(queue)
        with pytest.raises(KeyboardInterrupt):
            queue.pause_barrier.wait(LIMIT_S, label="never compared")
        with pytest.raises(HostLostError):
            queue.pause_barrier.wait(LIMIT_S)
    assert _kinds(waits) == [PeerLostError] * 2


def _interrupt(queue: EngineCacheQueue) -> None:
    """Let the handle's next wait be interrupted when it has arrived."""
    path = queue._meeting("barriers.pause", "test")
    assert path is not None

    def interrupt(turn: int) -> bool:
        raise KeyboardInterrupt

    path._attendant._all_here = interrupt  # type: ignore[method-assign]


def test_a_killed_host_leaves_nothing_behind_that_the_next_one_finds(ranks: Ranks, server: EngineCacheQueue) -> None:
    waits = _waiting(server, ranks.open(0))
    memory = Path("/dev/shm") / server._welcome["meetings"]["barriers.pause"]
    assert memory.exists()
    os.kill(host_pid(server), signal.SIGKILL)  # type: ignore[arg-type]
    assert _kinds(waits) == [HostLostError]
    with EngineCacheQueue(server.address, is_server=True, num_client=3, data_path="ring"):
        assert not memory.exists()


def test_too_many_ranks_for_a_meeting() -> None:
    assert meetings("names", MOST_RANKS) is not None
    assert meetings("names", MOST_RANKS + 1) is None
