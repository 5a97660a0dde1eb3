"""FastDeploy's call sites run on fdcomm: real processes, all sizes, two replicas."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.clean import nothing_is_left
from tests.migrate.run import run

__all__ = ("nothing_is_left",)

pytestmark = pytest.mark.multiproc
DP_SIZE = 2
TP_SIZES = (1, 2, 4, 8)
COUNT = 6


def _batches(dp: int) -> list[list[str]]:
    return [[f"{dp}.{number}.{index}" for index in range(1 + number % 3)] for number in range(COUNT)]


@pytest.mark.parametrize("ranks", TP_SIZES)
def test_engine_and_workers(ranks: int) -> None:
    """Every rank runs every batch, once and in order, and in the same step as the others."""
    outcome = run("engine_dispatch", "worker_loop", ranks, DP_SIZE, "--count", COUNT)
    for dp, replica in enumerate(outcome.ranks):
        for said in replica:
            assert [line["batch"] for line in said] == _batches(dp)
            assert [line["step"] for line in said] == [line["step"] for line in replica[0]]


@pytest.mark.parametrize("ranks", TP_SIZES)
def test_engine_and_workers_with_tickets(ranks: int) -> None:
    """The ranks run the same batches in the same steps, also when the engine clears at any moment."""
    outcome = run("engine_dispatch", "worker_loop", ranks, DP_SIZE, "--count", 4 * COUNT, "--clear", "--tickets")
    for replica in outcome.ranks:
        assert len(replica[0]) >= 2 * COUNT  # what the clears have dropped is less than a third
        assert [said == replica[0] for said in replica] == [True] * ranks


@pytest.mark.parametrize("ranks", [2, 8])
def test_clears_take_no_batch_from_some_ranks_only(ranks: int) -> None:
    """Without tickets ranks may run a batch in different steps; a clear never makes them run different batches."""
    outcome = run("engine_dispatch", "worker_loop", ranks, DP_SIZE, "--count", 4 * COUNT, "--clear")
    for replica in outcome.ranks:
        batches = [[line["batch"] for line in said] for said in replica]
        assert batches == [batches[0]] * ranks


@pytest.mark.parametrize("ranks", TP_SIZES)
def test_prefix_cache_and_transfer_managers(tmp_path: Path, ranks: int) -> None:
    """Every task is executed by every rank, tasks of one kind in their order, and every waiter gets its results."""
    outcome = run("prefix_cache_manager", "cache_transfer_manager", ranks, DP_SIZE, "--count", COUNT, signals=tmp_path)
    for dp, replica in enumerate(outcome.ranks):
        for said in replica:
            (moved,) = said
            for kind in ("in", "read", "out"):
                mine = [task for task in moved["tasks"] if task.startswith(f"{dp}.{kind}.")]
                assert mine == [f"{dp}.{kind}.{number}" for number in range(COUNT)]
            assert len(moved["tasks"]) == 3 * COUNT
        assert [line["lengths"] for line in outcome.said("read", dp)] == [[number] * ranks for number in range(COUNT)]
        assert outcome.said("reset", dp) == [{"event": "reset", "dp": dp, "empty": True}]


@pytest.mark.parametrize("ranks", [2, 4])
def test_transfer_managers_with_tickets(tmp_path: Path, ranks: int) -> None:
    """All ranks execute the same tasks in the same rounds, also when the manager clears at any moment."""
    more = ("--count", COUNT, "--clear", "--tickets")
    outcome = run("prefix_cache_manager", "cache_transfer_manager", ranks, DP_SIZE, *more, signals=tmp_path)
    for dp, replica in enumerate(outcome.ranks):
        rounds = [said[0]["rounds"] for said in replica]
        assert rounds == [rounds[0]] * ranks
        assert [task for _, task in rounds[0] if task.startswith(f"{dp}.in.")] == [
            f"{dp}.in.{number}" for number in range(COUNT)
        ]


@pytest.mark.parametrize("ranks", TP_SIZES)
def test_engine_and_cache_messagers(ranks: int) -> None:
    """Connections, cache infos and reports of all ranks come together, by request."""
    outcome = run("engine_prefill", "cache_messager", ranks, DP_SIZE, "--count", COUNT)
    for dp in range(DP_SIZE):
        requests = [f"{dp}.{number}" for number in range(COUNT)]
        # The engine lets rank 0 fail in the second task and rank 1 in the third.
        success = [True, False, ranks == 1]
        assert [line["success"] for line in outcome.said("connected", dp)] == success
        assert [line["task"] for line in outcome.said("connected", dp)] == [f"connect {task}" for task in range(3)]
        assert [line["requests"] for line in outcome.said("added", dp)] == [[request] for request in requests]
        statuses = ["write cache error" if number % 3 == 2 else "finished" for number in range(COUNT)]
        assert [line["results"] for line in outcome.said("finished", dp)] == [
            [list(pair) for pair in zip(requests, statuses, strict=True)]
        ]
        assert outcome.ranks[dp] == [[{"event": "messaged", "requests": requests}]] * ranks


@pytest.mark.parametrize("ranks", [1, 4])
def test_engine_and_controlled_workers(ranks: int) -> None:
    """Every control request has one answer of each worker, large ones too, also from workers that end then."""
    outcome = run("engine_control", "worker_control", ranks, DP_SIZE, "--count", COUNT)
    for dp, replica in enumerate(outcome.ranks):
        requests = [f"{dp}.{number}" for number in range(COUNT)]
        assert replica == [[{"event": "answered", "requests": requests}]] * ranks
        answered = outcome.said("answered", dp)
        assert [line["request"] for line in answered] == requests
        assert [line["ranks"] for line in answered] == [list(range(ranks))] * COUNT
        assert [line["bytes"][0] for line in answered] == [(2 << 20) if n % 2 else 10 for n in range(COUNT)]


@pytest.mark.parametrize("ranks", [1, 4])
def test_engine_and_api_servers(ranks: int) -> None:
    """Each API server gets the results of its own requests, in order, each once, whether it asks early or late."""
    outcome = run("engine_responses", "api_server", ranks, DP_SIZE, "--count", COUNT)
    for dp, replica in enumerate(outcome.ranks):
        for rank, said in enumerate(replica):
            requests = [f"{dp}.{rank}.{number}" for number in range(COUNT)]
            assert [line["request"] for line in said] == requests
            assert [line["results"] for line in said] == [[[one, n] for n in range(3)] for one in requests]
