"""Kills around block lists, over a real host and cache processes: of a rank, the host, and the prefix cache itself."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from fdcomm import (
    BlockLists,
    EngineCacheQueue,
    HostLostError,
    PauseControl,
    PeerLostError,
    TransferCancelledError,
    TransferClient,
    TransferFailedError,
)
from fdcomm.trace import Recorder, read
from fdcomm.transfer_tasks import TransferTasks
from models.dispatch_trace import accept_file
from tests.conformance.waiting import Background, until
from tests.faults.blocks_child import Child
from tests.faults.remote import host_pid

pytestmark = pytest.mark.multiproc

LIMIT_S = 60.0


@pytest.fixture
def server() -> Iterator[EngineCacheQueue]:
    with EngineCacheQueue(("0.0.0.0", 0), is_server=True, num_client=2) as queue:
        yield queue


@contextlib.contextmanager
def _ranks(server: EngineCacheQueue) -> Iterator[list[Child]]:
    ranks: list[Child] = []
    try:
        for rank in (0, 1):
            ranks.append(Child("rank", server.get_server_port(), rank))
        yield ranks
    finally:
        for child in ranks:
            child.kill()


@contextlib.contextmanager
def _cache(server: EngineCacheQueue, folder: Path) -> Iterator[tuple[BlockLists, TransferClient]]:
    """Lists and a client, whose record the model judges at the end."""
    file = folder / "blocks.ndjson"
    recorder = Recorder(file)
    lists = BlockLists(2, 2, recorder=recorder)
    with TransferClient(TransferTasks(server), lists, PauseControl(server)) as client:
        yield lists, client
    lists.check()
    recorder.close()
    assert len(read(file)) > 3
    (verdict,) = accept_file(str(file))
    assert verdict.accepted, str(verdict)


def test_a_rank_is_killed_while_it_moves_blocks(server: EngineCacheQueue, tmp_path: Path) -> None:
    with _ranks(server) as ranks, _cache(server, tmp_path) as (lists, client):
        source, target = lists.allocate(), lists.allocate(1, "host")
        swap = client.issue("hold", "swap", source, target)
        for child in ranks:
            child.expect("holds")
        ranks[1].kill()
        ranks[0].let_go()
        with pytest.raises(TransferFailedError) as found:
            swap.wait(LIMIT_S)
        assert found.value.missing == (1,)
        assert swap.lease is source
        with pytest.raises(PeerLostError):
            client.issue("task", "swap", source, lists.allocate(1, "host"))
        ranks[1] = Child("rank", server.get_server_port(), 1)
        again = client.issue("task", "swap", source, lists.allocate(1, "host"))
        assert again.wait(LIMIT_S).value == ["rank 0", "rank 1"]
        assert client.reset(timeout=LIMIT_S) == 1
        assert lists.statistics().device_free == 2


def test_a_rank_is_killed_while_a_reset_waits_for_it(server: EngineCacheQueue, tmp_path: Path) -> None:
    with _ranks(server) as ranks, _cache(server, tmp_path) as (lists, client):
        swap = client.issue("hold", "swap", lists.allocate(), lists.allocate(1, "host"))
        for child in ranks:
            child.expect("holds")
        resetting = Background(lambda: client.reset(timeout=LIMIT_S))
        with pytest.raises(TransferCancelledError):
            swap.wait(LIMIT_S)
        assert lists.statistics().in_flight == 2
        ranks[0].kill()
        ranks[1].let_go()
        assert resetting.value() == 1
        assert lists.statistics().device_free == 2


def test_the_host_is_killed_while_all_wait(server: EngineCacheQueue, tmp_path: Path) -> None:
    with _ranks(server) as ranks, _cache(server, tmp_path) as (lists, client):
        swaps = [client.issue("hold", "swap", lists.allocate(), lists.allocate(1, "host")) for _ in (1, 2)]
        ranks[0].expect("holds")
        waits = [Background(lambda swap=swap: swap.wait(LIMIT_S)) for swap in swaps]  # type: ignore[misc]
        waits.append(Background(lambda: lists.allocate(timeout=LIMIT_S)))
        os.kill(host_pid(server), signal.SIGKILL)  # type: ignore[arg-type]
        assert [type(call.error()) for call in waits] == [HostLostError] * 3
        for call in (lists.allocate, lambda: client.reset(timeout=LIMIT_S)):
            with pytest.raises(HostLostError):
                call()
        assert lists.statistics().in_flight == 4


def test_the_prefix_cache_is_killed_and_its_successor_starts_anew(server: EngineCacheQueue, tmp_path: Path) -> None:
    with _ranks(server) as ranks:
        ranks.append(first := Child("client", server.get_server_port()))
        for payload in ("hold", "task"):
            assert first.process.stdin is not None
            first.process.stdin.write(f"{payload}\n")
            first.expect("issued")
        for child in ranks[:2]:
            child.expect("holds")
        first.kill()
        with _cache(server, tmp_path) as (lists, client):
            until(lambda: TransferTasks(server).statistics().waiting == 0, "what it had issued is withdrawn")
            swap = client.issue("task", "swap", lists.allocate(), lists.allocate(1, "host"))
            for child in ranks[:2]:
                child.let_go()
            assert swap.wait(LIMIT_S).value == ["rank 0", "rank 1"]
            found = client.statistics()
            assert (found.ok, found.unknown, found.unreadable) == (1, 0, 0)
