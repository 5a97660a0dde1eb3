"""Each method of EngineWorkerQueue: what FastDeploy's callers pass and get, at every size, replica and instance."""

from __future__ import annotations

import pytest

from fdcomm import CommTimeoutError, EngineWorkerQueue, InconsistentAnswersError, ProtocolViolationError
from tests.parity.worlds import LIMIT_S, World

Worker = World[EngineWorkerQueue]


def _last(worker: Worker) -> list[bool]:
    """Return what each rank is told when the ranks do something in turn: only the last one is the last."""
    return [False] * (worker.place.tp - 1) + [True]


# -- tasks -------------------------------------------------------------------------------------------------------------


def test_put_tasks(worker: Worker) -> None:
    batch = ([{"request_id": "a"}, {"request_id": "b"}], 2)
    assert worker.engine.put_tasks(batch) is None  # type: ignore[func-returns-value]
    with pytest.raises(CommTimeoutError) as caught:
        worker.engine.put_tasks("next", timeout=0)
    assert caught.value.missing == tuple(range(worker.place.tp))
    assert worker.other.num_tasks() == 0
    assert [rank.get_tasks()[0] for rank in worker.ranks] == [[batch]] * worker.place.tp
    worker.engine.put_tasks("next", timeout=0)  # all have read, so there is room
    assert [rank.get_tasks()[0] for rank in worker.ranks] == [["next"]] * worker.place.tp


def test_get_tasks(worker: Worker) -> None:
    assert [rank.get_tasks() for rank in worker.ranks] == [([], True)] * worker.place.tp
    worker.engine.put_tasks(("tasks", 1), timeout=LIMIT_S)
    got = [rank.get_tasks() for rank in worker.ranks]
    assert got == [([("tasks", 1)], last) for last in _last(worker)]
    assert all(type(tasks) is list and type(all_read) is bool for tasks, all_read in got)
    assert [rank.get_tasks() for rank in worker.ranks] == [([], True)] * worker.place.tp
    with pytest.raises(CommTimeoutError):
        worker.ranks[0].get_tasks(timeout=0.001)
    worker.engine.put_tasks("by ticket", timeout=LIMIT_S)
    ticket = worker.ranks[0].task_ticket()
    assert [rank.get_tasks(ticket=ticket)[0] for rank in worker.ranks] == [["by ticket"]] * worker.place.tp


def test_exist_tasks(worker: Worker) -> None:
    everybody = [worker.engine, worker.server, *worker.ranks]
    assert not any(queue.exist_tasks() for queue in everybody)
    worker.engine.put_tasks(1, timeout=LIMIT_S)
    assert all(queue.exist_tasks() is True for queue in everybody)
    for rank in worker.ranks:
        assert worker.engine.exist_tasks()
        rank.get_tasks()
        assert not rank.exist_tasks()  # for this rank
    assert all(queue.exist_tasks() is False for queue in everybody)


def test_set_exist_tasks(worker: Worker) -> None:
    assert worker.engine.set_exist_tasks(False) is None  # type: ignore[func-returns-value]
    with pytest.raises(ProtocolViolationError):
        worker.engine.set_exist_tasks(True)
    worker.engine.put_tasks(1, timeout=LIMIT_S)
    worker.engine.set_exist_tasks(True)
    with pytest.raises(ProtocolViolationError):
        worker.engine.set_exist_tasks(False)
    worker.engine.clear_data()


def test_num_tasks(worker: Worker) -> None:
    assert worker.engine.num_tasks() == 0
    worker.engine.put_tasks(1, timeout=LIMIT_S)
    assert [queue.num_tasks() for queue in (worker.engine, *worker.ranks)] == [1] * (1 + worker.place.tp)
    worker.engine.clear_data()


def test_clear_data(worker: Worker) -> None:
    worker.engine.put_tasks("dropped", timeout=LIMIT_S)
    assert worker.engine.clear_data() is None  # type: ignore[func-returns-value]
    assert not worker.engine.exist_tasks()
    for rank in worker.ranks:  # every rank clears after one event: they are one clear
        rank.clear_data()
    worker.engine.put_tasks("kept", timeout=LIMIT_S)
    assert [rank.get_tasks()[0] for rank in worker.ranks] == [["kept"]] * worker.place.tp


# -- cache infos -------------------------------------------------------------------------------------------------------


def test_put_cache_info(worker: Worker) -> None:
    assert worker.engine.put_cache_info([{"id": 1}, {"id": 2}], timeout=0) is None  # type: ignore[func-returns-value]
    with pytest.raises(CommTimeoutError):
        worker.engine.put_cache_info([{"id": 3}], timeout=0)
    assert worker.other.num_cache_infos() == 0
    assert [rank.get_cache_info() for rank in worker.ranks] == [[{"id": 1}, {"id": 2}]] * worker.place.tp


def test_get_cache_info(worker: Worker) -> None:
    assert [rank.get_cache_info() for rank in worker.ranks] == [[]] * worker.place.tp
    worker.engine.put_cache_info(("from", "a", "tuple"), timeout=LIMIT_S)
    for rank in worker.ranks:
        assert rank.get_cache_info() == ["from", "a", "tuple"]
        assert rank.get_cache_info() == []
    with pytest.raises(CommTimeoutError):
        worker.ranks[-1].get_cache_info(timeout=0.001)


def test_num_cache_infos(worker: Worker) -> None:
    assert worker.engine.num_cache_infos() == 0
    worker.engine.put_cache_info([1, 2, 3], timeout=LIMIT_S)
    assert [queue.num_cache_infos() for queue in (worker.engine, *worker.ranks)] == [3] * (1 + worker.place.tp)
    for rank in worker.ranks:
        rank.get_cache_info()


# -- between prefill and decode ----------------------------------------------------------------------------------------


def test_put_connect_rdma_task(worker: Worker) -> None:
    task = {"task_id": 1, "ip": "192.0.2.1", "rdma_port": 7}
    assert worker.engine.put_connect_rdma_task(task, timeout=0) is None  # type: ignore[func-returns-value]
    with pytest.raises(CommTimeoutError):
        worker.engine.put_connect_rdma_task(task, timeout=0)
    assert [rank.get_connect_rdma_task()[0] for rank in worker.ranks] == [task] * worker.place.tp


def test_get_connect_rdma_task(worker: Worker) -> None:
    assert [rank.get_connect_rdma_task() for rank in worker.ranks] == [(None, False)] * worker.place.tp
    worker.engine.put_connect_rdma_task({"task_id": 1}, timeout=LIMIT_S)
    assert [rank.get_connect_rdma_task() for rank in worker.ranks] == [({"task_id": 1}, last) for last in _last(worker)]
    assert worker.ranks[0].get_connect_rdma_task() == (None, False)
    with pytest.raises(CommTimeoutError):
        worker.ranks[0].get_connect_rdma_task(timeout=0.001)


def _respond(worker: Worker, task: int, *failing: int) -> list[bool]:
    return [
        rank.put_connect_rdma_task_response({"task_id": task, "success": number not in failing})
        for number, rank in enumerate(worker.ranks)
    ]


def test_put_connect_rdma_task_response(worker: Worker) -> None:
    said = _respond(worker, 1)
    assert said == _last(worker)
    assert all(type(all_put) is bool for all_put in said)
    assert worker.other.get_connect_rdma_task_response() is None
    assert worker.engine.get_connect_rdma_task_response() == {"task_id": 1, "success": True}


def test_get_connect_rdma_task_response(worker: Worker) -> None:
    assert worker.engine.get_connect_rdma_task_response() is None
    last = worker.place.tp - 1
    _respond(worker, 1, last)
    assert worker.engine.get_connect_rdma_task_response(timeout=LIMIT_S) == {"task_id": 1, "success": False}
    assert worker.engine.get_connect_rdma_task_response() is None
    with pytest.raises(CommTimeoutError):
        worker.engine.get_connect_rdma_task_response(timeout=0.001)


def test_a_fast_rank_is_not_counted_twice(worker: Worker) -> None:
    """Rank 0 answers two tasks before the others answer one: FastDeploy mixes the two."""
    for task in (1, 2):
        worker.ranks[0].put_connect_rdma_task_response({"task_id": task, "success": task == 1})
    for task in (1, 2):
        for rank in worker.ranks[1:]:
            rank.put_connect_rdma_task_response({"task_id": task, "success": True})
    got = [worker.engine.get_connect_rdma_task_response() for _ in range(3)]
    assert got == [{"task_id": 1, "success": True}, {"task_id": 2, "success": False}, None]


def test_put_finished_req(worker: Worker) -> None:
    said = [rank.put_finished_req([["request", "finished"]]) for rank in worker.ranks]
    assert said == _last(worker)
    assert worker.engine.get_finished_req() == [["request", "finished"]]
    for rank in worker.ranks:  # several in one list, also as tuples
        rank.put_finished_req([("one", "finished"), ("two", "finished")])
    assert [worker.engine.get_finished_req() for _ in range(3)] == [[["one", "finished"]], [["two", "finished"]], []]


def test_get_finished_req(worker: Worker) -> None:
    assert worker.engine.get_finished_req() == []
    for number, rank in enumerate(worker.ranks):
        assert worker.engine.get_finished_req() == []  # not complete yet
        status = "write cache error" if number == worker.place.tp - 1 else "finished"
        rank.put_finished_req([("request", status)])
    got = worker.engine.get_finished_req(timeout=LIMIT_S)
    assert got == [["request", "write cache error"]]
    assert type(got[0]) is list
    assert worker.other.get_finished_req() == []


def test_put_finished_add_cache_task_req(worker: Worker) -> None:
    said = [rank.put_finished_add_cache_task_req(["a", "b"]) for rank in worker.ranks]
    assert said == _last(worker)
    assert worker.engine.get_finished_add_cache_task_req() == ["a", "b"]


def test_get_finished_add_cache_task_req(worker: Worker) -> None:
    assert worker.engine.get_finished_add_cache_task_req() == []
    for rank in worker.ranks:
        assert worker.engine.get_finished_add_cache_task_req() == []
        rank.put_finished_add_cache_task_req(["a"])
    assert worker.engine.get_finished_add_cache_task_req(timeout=LIMIT_S) == ["a"]
    assert worker.other.get_finished_add_cache_task_req() == []


def test_answers_that_differ_block_nobody(worker: Worker) -> None:
    """Ranks that name different ids: the engine is told, and the next round is as ever."""
    if worker.place.tp == 1:
        return
    for number, rank in enumerate(worker.ranks):
        rank.put_finished_add_cache_task_req(["a"] if number else ["b"])
    errors = 0
    while worker.engine.finished_add_cache_task_list != []:
        try:
            assert worker.engine.get_finished_add_cache_task_req(round_timeout=0) == []
        except (CommTimeoutError, InconsistentAnswersError):
            errors += 1
    assert errors > 0


def test_put_disaggregated_tasks(worker: Worker) -> None:
    assert worker.engine.put_disaggregated_tasks(("decode", [1])) is None  # type: ignore[func-returns-value]
    assert worker.other.disaggregate_queue_empty()
    assert worker.engine.get_disaggregated_tasks() == [("decode", [1])]


def test_get_disaggregated_tasks(worker: Worker) -> None:
    assert worker.engine.get_disaggregated_tasks() is None
    for number in range(3):
        worker.ranks[-1].put_disaggregated_tasks(number)
    assert worker.engine.get_disaggregated_tasks() == [0, 1, 2]
    assert worker.ranks[0].get_disaggregated_tasks() is None


def test_disaggregate_queue_empty(worker: Worker) -> None:
    assert worker.engine.disaggregate_queue_empty() is True
    worker.engine.put_disaggregated_tasks(1)
    assert worker.engine.disaggregate_queue_empty() is False
    worker.engine.get_disaggregated_tasks()
