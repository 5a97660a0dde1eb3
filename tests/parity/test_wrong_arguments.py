"""Wrong types and values: a typed error at the caller who wrote them, and nothing else is the worse for it."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from fdcomm import (
    ConfigError,
    EngineCacheQueue,
    EngineWorkerQueue,
    FdcommError,
    InconsistentAnswersError,
    ReadOnlyError,
)
from tests.faults.clean import nothing_is_left

__all__ = ("nothing_is_left",)

QUEUES: list[Any] = [EngineWorkerQueue, EngineCacheQueue]
ARRAY = np.array([1, 2])


class Unequal:
    """Comes through pickle whole, and cannot be shown or compared."""

    def __str__(self) -> str:
        raise RuntimeError("not shown")

    def __repr__(self) -> str:
        return "Unequal()"


WRONG: dict[str, list[Any]] = {
    "is_server": [None, 2, "no", ARRAY],
    "num_client": [True, 1.0, ARRAY, None],
    "client_id": [True, 0.0, ARRAY, None],
    "local_data_parallel_id": [True, 0.0, ARRAY, None],
    "role": [ARRAY, b"reader", 0, []],
    "depth": [True, 1.0, ARRAY, 0],
    "max_batch_bytes": [True, 1.0, ARRAY, 0],
    "allow_pickle": [None, 1, "False", ARRAY],
    "transport": [None, True, 5, b"auto", ARRAY, [], object()],
    "trace": [None, 5, ARRAY, "a\0b", "\ud800", object()],
    "data_path": [None, ARRAY, [], b"ring"],
    "connect_timeout": [None, True, ARRAY, float("nan"), -1.0, "1"],
}


@pytest.mark.parametrize("queue", QUEUES)
def test_a_constructor_refuses_what_cannot_be(queue: Any) -> None:
    with queue(("127.0.0.1", 0), is_server=True) as server:
        for argument, values in WRONG.items():
            for value in values:
                with pytest.raises(FdcommError, match=argument) as caught:
                    queue(**{"address": server.address, "client_id": 0, argument: value})
                assert isinstance(caught.value, ConfigError) or argument == "client_id", argument
        assert server.statistics().sessions == 1


@pytest.mark.parametrize("queue", QUEUES)
def test_numbers_and_truth_values_of_numpy_are_taken(queue: Any) -> None:
    one, zero = np.int64(1), np.int32(0)
    sizes = {"num_client": one, "local_data_parallel_size": one, "local_data_parallel_id": zero, "depth": one}
    with queue(("127.0.0.1", 0), is_server=np.True_, **sizes) as server:
        with queue(server.address, is_server=np.False_, num_client=one, client_id=zero) as client:
            assert type(client.client_id) is type(client.num_client) is int
            client.statistics()


def test_sizes_that_no_memory_has_are_an_error_of_the_constructor(capfd: pytest.CaptureFixture[str]) -> None:
    for size in (1 << 62, 1 << 70):  # whatever refuses it, no page stays: the session's end looks for them
        with pytest.raises(FdcommError, match="bytes"):
            EngineWorkerQueue(("127.0.0.1", 0), is_server=True, num_client=size)
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("data_path", ["ring", "host"])
def test_an_answer_that_has_no_truth_value_stops_at_its_rank(data_path: Any) -> None:
    with EngineWorkerQueue(("127.0.0.1", 0), is_server=True) as engine:
        with EngineWorkerQueue(engine.address, client_id=0, data_path=data_path) as rank:
            with pytest.raises(ConfigError, match="truth"):
                rank.put_connect_rdma_task_response({"success": ARRAY, "task_id": "a"})
            assert engine.get_connect_rdma_task_response() is None
            assert rank.put_connect_rdma_task_response({"success": np.True_, "task_id": "a"})
            assert engine.get_connect_rdma_task_response() == {"success": True, "task_id": "a"}
            wrong: list[Any] = [ARRAY, None, "", 2]
            for flag in wrong:
                with pytest.raises(ConfigError, match="flag"):
                    rank.set_exist_tasks(flag)
            rank.set_exist_tasks(False)


def test_answers_that_cannot_be_combined_end_their_round_with_a_typed_error() -> None:
    with EngineWorkerQueue(("127.0.0.1", 0), is_server=True) as engine:
        with EngineWorkerQueue(engine.address, client_id=0) as rank:
            assert rank.put_finished_req([["a", Unequal()]])
            assert rank.put_finished_req([["b", "ok"]])
            with pytest.raises(InconsistentAnswersError, match="not shown"):
                engine.get_finished_req()
            assert engine.get_finished_req() == [["b", "ok"]]


@pytest.mark.parametrize("queue", QUEUES)
def test_a_handle_is_not_copied_and_its_barriers_are_not_replaced(queue: Any) -> None:
    with queue(("127.0.0.1", 0), is_server=True) as server:
        with queue(server.address, client_id=0) as client:
            for copied in (copy.copy, copy.deepcopy, pickle.dumps):
                with pytest.raises(ConfigError, match="open a handle in each process"):
                    copied(client)
            barrier = "cache_info_barrier" if queue is EngineWorkerQueue else "barrier1"
            with pytest.raises(ReadOnlyError, match="wait"):
                setattr(client, barrier, 1)
            assert getattr(client, barrier).wait(5) == 0
