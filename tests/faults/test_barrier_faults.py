"""SIGSTOP, SIGKILL and restart of ranks and hosts while ranks meet: a typed error or progress, and clean afterwards."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from fdcomm import CommTimeoutError, EngineCacheQueue, HostLostError, PeerLostError
from fdcomm.barrier import RankBarrier
from fdcomm.session import DataPathName
from tests.conformance.waiting import Background
from tests.faults.remote import LIMIT_S, Failed, Remote, host_pid, stopped, until

WHERE = ["barrier0 in memory", "barrier in memory", "barrier0 in the host"]


@pytest.fixture(params=WHERE)
def where(request: pytest.FixtureRequest) -> tuple[str, DataPathName]:
    """A barrier that is used in turn with others or alone, and where its ranks meet."""
    name, _, place = str(request.param).partition(" in ")
    return name, "ring" if place == "memory" else "host"


@pytest.fixture
def name(where: tuple[str, DataPathName]) -> str:
    """The barrier."""
    return where[0]


@pytest.fixture
def path(where: tuple[str, DataPathName]) -> DataPathName:
    """How handles get there."""
    return where[1]


@pytest.fixture
def server(path: DataPathName) -> Iterator[EngineCacheQueue]:
    """A host for two ranks."""
    with EngineCacheQueue(("0.0.0.0", 0), is_server=True, num_client=2, data_path=path) as queue:
        yield queue


@pytest.fixture
def one(server: EngineCacheQueue, path: DataPathName) -> Iterator[EngineCacheQueue]:
    """Rank 1, in this process."""
    with EngineCacheQueue(server.address, num_client=2, client_id=1, data_path=path) as queue:
        yield queue


def _at(queue: EngineCacheQueue, name: str) -> RankBarrier:
    barrier: RankBarrier = getattr(queue, name)
    return barrier


def _rank0(server: EngineCacheQueue, process: Remote) -> None:
    way = "ring" if server._welcome["meetings"] else "host"
    process.open(server.get_server_port(), queue="EngineCacheQueue", num_client=2, client_id=0, data_path=way)


def test_a_stopped_rank_is_waited_for(server: EngineCacheQueue, one: EngineCacheQueue, name: str) -> None:
    """It is named after the time limit, its peer's arrival is taken back, and after SIGCONT they meet."""
    with Remote() as process:
        _rank0(server, process)
        with stopped(process.process.pid):
            process.send("call", f"{name}.wait", LIMIT_S)
            with pytest.raises(CommTimeoutError) as caught:
                _at(one, name).wait(0.05)
            assert caught.value.missing == (0,)
            assert _at(one, name).n_waiting == 0
        until(lambda: _at(server, name).n_waiting == 1, "rank 0 waits")
        assert _at(one, name).wait(LIMIT_S) == 1
        assert process.answer() == 0


def test_a_rank_that_is_stopped_in_its_wait_has_arrived(
    server: EngineCacheQueue, one: EngineCacheQueue, name: str, path: DataPathName
) -> None:
    """Its arrival counts: the others go on, and may be a round ahead when it wakes."""
    with Remote() as process:
        _rank0(server, process)
        process.send("call", f"{name}.wait", LIMIT_S)
        until(lambda: _at(server, name).n_waiting == 1, "rank 0 waits")
        with stopped(process.process.pid):
            assert _at(one, name).wait(LIMIT_S, generation=0) == 1
            ahead = Background(lambda: _at(one, name).wait(LIMIT_S, generation=1))
            until(lambda: _at(server, name).n_waiting == 1, "rank 1 waits in the next round")
        assert process.answer() == 0
        place = 0 if path == "ring" else 1  # its rank, or that it was the second to arrive
        assert process.call(f"{name}.wait", LIMIT_S) == place
        assert ahead.value() == 1 - place
    assert _at(server, name).generation == 2


def test_ranks_that_are_killed_and_restarted_meet_again(
    server: EngineCacheQueue, one: EngineCacheQueue, name: str
) -> None:
    for number in range(4):
        with Remote() as process:
            _rank0(server, process)
            process.send("call", f"{name}.wait", LIMIT_S, generation=number)  # nobody waits before it is back
            until(lambda: _at(server, name).n_waiting == 1, "rank 0 waits")
            assert _at(one, name).wait(LIMIT_S) == 1
            assert process.answer() == 0
            told = Background(lambda: _at(one, name).wait(LIMIT_S))
            until(lambda: _at(server, name).n_waiting == 1, "rank 1 waits again")
            process.kill()
            error = told.error()
        assert isinstance(error, PeerLostError)
        assert error.missing == (0,)
        assert _at(server, name).generation == number + 1
        assert _at(server, name).n_waiting == 0


@pytest.mark.parametrize(
    ("of", "where"),
    [("the last rank", name) for name in WHERE] + [("all ranks", name) for name in WHERE if "barrier0" in name],
    indirect=["where"],
)
def test_the_host_dies_while_ranks_wait(server: EngineCacheQueue, one: EngineCacheQueue, of: str, name: str) -> None:
    with Remote() as process:
        _rank0(server, process)
        waits = [Background(lambda: _at(one, name).wait(LIMIT_S))]
        until(lambda: _at(server, name).n_waiting == 1, "rank 1 waits")
        if of == "all ranks":
            process.send("call", "barrier3.wait", 0)  # it has a connection, and its call has ended
            with pytest.raises(Failed):
                process.answer()
            waits[0].error()
            waits = [
                Background(lambda: one.barrier1.wait(LIMIT_S)),
                Background(lambda: one.pause_barrier.wait(LIMIT_S)),
            ]
            until(lambda: server.barrier1.n_waiting + server.pause_barrier.n_waiting == 2, "rank 1 waits twice")
        os.kill(host_pid(server), signal.SIGKILL)  # type: ignore[arg-type]
        for wait in waits:
            assert isinstance(wait.error(), HostLostError)
        with pytest.raises(HostLostError):
            _at(one, name).wait(LIMIT_S)
        with pytest.raises(Failed) as caught:
            process.call(f"{name}.wait", LIMIT_S)
        assert caught.value.name == "HostLostError"


def test_a_new_host_knows_nothing_of_the_old_ones_rounds(name: str, path: DataPathName) -> None:
    with EngineCacheQueue(("0.0.0.0", 0), is_server=True, num_client=1, data_path=path) as first:
        with EngineCacheQueue(first.address, client_id=0, data_path=path) as rank:
            assert [_at(rank, name).wait(LIMIT_S) for _ in range(3)] == [0, 0, 0]
        _at(first, name).abort()
        address = first.address
    with EngineCacheQueue(address, is_server=True, num_client=1, data_path=path) as second:
        assert (_at(second, name).generation, _at(second, name).broken) == (0, False)
        with EngineCacheQueue(address, client_id=0, data_path=path) as rank:
            assert _at(rank, name).wait(LIMIT_S, generation=0) == 0
