"""Barriers that are used in turn and meet in shared memory: who waits where, on either way, aborts of one of them."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from fdcomm import BarrierBrokenError, BarrierMismatchError, CommTimeoutError, EngineCacheQueue, PeerLostError
from fdcomm.deadline import Deadline
from fdcomm.meeting import members
from fdcomm.meeting.attendant import Attendant
from fdcomm.meeting.hall import Hall
from fdcomm.meeting.layout import Shape
from fdcomm.runtime import SYSTEM
from tests.conformance.waiting import Background
from tests.faults.remote import LIMIT_S, Remote, until

RANKS = 3


class World:
    """A host, and a handle of each rank; ``far`` ranks take part through the host."""

    def __init__(self, undo: ExitStack, far: tuple[int, ...]) -> None:
        self.far = far
        self.server = undo.enter_context(
            EngineCacheQueue(("0.0.0.0", 0), is_server=True, num_client=RANKS, data_path="ring")
        )
        self.ranks = [undo.enter_context(self.open(rank)) for rank in range(RANKS)]

    def open(self, rank: int) -> EngineCacheQueue:
        """Open a handle of a rank."""
        way = self.way(rank)
        return EngineCacheQueue(self.server.address, num_client=RANKS, client_id=rank, data_path=way)  # type: ignore[arg-type]

    def way(self, rank: int) -> str:
        """How a rank takes part."""
        return "host" if rank in self.far else "ring"

    def waits(self, name: str, *ranks: int, **options: object) -> list[Background]:
        """Let ranks wait at a barrier, and return when they do."""
        at = [getattr(self.ranks[rank], name) for rank in ranks]
        found = [Background(lambda b=barrier: b.wait(LIMIT_S, **options)) for barrier in at]  # type: ignore[misc]
        looked = getattr(self.server, name)
        until(lambda: not set(ranks) & set(looked.missing), f"{ranks} wait at {name}")
        return found


@pytest.fixture(params=[(), (1,), (0, 1, 2)], ids=["in memory", "one through the host", "all through the host"])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    """All of it."""
    with ExitStack() as undo:
        yield World(undo, request.param)


def test_ranks_that_all_wait_and_not_at_one_barrier_are_told_where_they_are(world: World) -> None:
    waits = [*world.waits("barrier1", 0), *world.waits("barrier2", 1)]
    with pytest.raises(BarrierMismatchError) as caught:
        world.ranks[2].barrier1.wait(LIMIT_S, label="step 3")
    assert [type(wait.error()) for wait in waits] == [BarrierMismatchError] * 2
    assert caught.value.missing[-1] == 2
    assert "rank 2 at barrier1 with label 'step 3'" in str(caught.value)


def test_who_gives_up_at_one_barrier_may_come_to_the_other_one(world: World) -> None:
    waits = world.waits("barrier0", 0)
    with pytest.raises(CommTimeoutError) as caught:
        world.ranks[2].barrier3.wait(0.01)
    assert caught.value.missing == (0, 1)
    waits += world.waits("barrier0", 1)
    assert world.ranks[2].barrier0.wait(LIMIT_S) == 2
    assert [wait.value() for wait in waits] == [0, 1]


def test_the_abort_of_a_barrier_is_about_nobody_who_waits_at_another_one(world: World) -> None:
    here = world.waits("barrier0", 0)
    there = world.waits("barrier1", 1)
    for _ in range(10):  # more than the memory has room for reasons
        world.server.barrier1.abort()
        assert world.server.barrier0.missing == (1, 2)
        assert [type(wait.error()) for wait in there] == [BarrierBrokenError] * len(there)
        assert (world.server.barrier0.broken, world.server.barrier1.broken) == (False, True)
        with pytest.raises(BarrierBrokenError):
            world.ranks[1].barrier1.wait(LIMIT_S)
        world.server.barrier1.reset()
        there = world.waits("barrier1", 1)
    world.server.barrier1.abort()
    assert type(there[0].error()) is BarrierBrokenError
    here += world.waits("barrier0", 1)
    assert world.ranks[2].barrier0.wait(LIMIT_S) == 2
    assert [wait.value() for wait in here] == [0, 1]
    assert [world.server.barrier1.broken] == [True]  # a pass of another one does not undo it


def test_each_barrier_has_rounds_of_its_own(world: World) -> None:
    for number, name in enumerate(["barrier0", "barrier2", "barrier0", "barrier0"]):
        waits = world.waits(name, 0, 1)
        assert getattr(world.ranks[2], name).wait(LIMIT_S, generation=(0, 0, 1, 2)[number]) == 2
        assert [wait.value() for wait in waits] == [0, 1]
    assert [getattr(world.server, f"barrier{number}").generation for number in range(4)] == [3, 0, 1, 0]
    with pytest.raises(BarrierMismatchError, match="round 2 is over") as caught:
        world.ranks[0].barrier0.wait(LIMIT_S, generation=2)
    assert caught.value.epoch == 3
    waits = world.waits("barrier2", 0)
    with pytest.raises(BarrierMismatchError, match="round 1"):  # of the whole group: it cannot come to barrier2 either
        world.ranks[1].barrier1.wait(LIMIT_S, generation=1)
    assert [type(wait.error()) for wait in waits] == [BarrierMismatchError]


def test_a_killed_rank_ends_the_waits_of_the_group(world: World) -> None:
    with Remote() as process:
        world.ranks[0].close()
        port = world.server.get_server_port()
        process.open(port, queue="EngineCacheQueue", num_client=RANKS, client_id=0, data_path=world.way(0))
        process.send("call", "barrier1.wait", LIMIT_S)
        until(lambda: world.server.barrier1.n_waiting == 1, "rank 0 waits")
        waits = world.waits("barrier0", 2)
        os.kill(process.process.pid, signal.SIGKILL)
        process.kill()
        error = waits[0].error()
    assert isinstance(error, PeerLostError)
    assert error.missing == (0,)
    with pytest.raises(PeerLostError):
        world.ranks[1].barrier3.wait(LIMIT_S)
    with world.open(0) as again:
        back = Background(lambda: again.barrier3.wait(LIMIT_S))
        until(lambda: 0 not in world.server.barrier3.missing, "it is back")
        others = world.waits("barrier3", 1)
        assert world.ranks[2].barrier3.wait(LIMIT_S) == 2
        assert [wait.value() for wait in [back, *others]] == [0, 1]


def test_an_arrival_that_could_not_be_taken_back_ends_when_its_rank_goes_elsewhere() -> None:
    limit = Deadline(LIMIT_S, SYSTEM.monotonic)
    hall = Hall.make(f"test-group-{os.getpid()}", Shape(2, 2), None, limit)
    try:
        rank = Attendant(hall.room, 0, members.attach(hall.room, 0, limit))
        other = Attendant(hall.room, 1, members.attach(hall.room, 1, limit))
        taking = rank._take

        def stuck(deadline: Deadline) -> None:
            raise CommTimeoutError("another process is deciding")

        rank._take = stuck  # type: ignore[method-assign]
        with pytest.raises(CommTimeoutError):
            rank.wait("", 0.0)
        rank._take = taking  # type: ignore[method-assign]
        mine = Background(lambda: rank.wait("", LIMIT_S, place=1))
        until(lambda: hall.room.words[rank._number] != 0, "it waits at the other one")
        assert other.wait("", LIMIT_S, place=1) == 0
        assert mine.value() == 0
    finally:
        hall.close(limit)
