"""Answers of all ranks through real handles: exact shapes, and bad input, which puts nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from fdcomm import (
    ClosedError,
    ConfigError,
    DuplicateRankError,
    EngineWorkerQueue,
    FdcommError,
    PayloadError,
    PayloadTooLargeError,
    RankError,
)
from fdcomm.errors import InconsistentAnswersError
from tests.faults.gate_group import Group, opened_group, opened_host

PUTS = ("put_connect_rdma_task_response", "put_finished_req", "put_finished_add_cache_task_req")
GETS = ("get_connect_rdma_task_response", "get_finished_req", "get_finished_add_cache_task_req")


class Name(str):
    """An id as another library may make it."""

    __slots__ = ()


@pytest.fixture(scope="module")
def host() -> Iterator[EngineWorkerQueue]:
    """One host for all tests."""
    with opened_host() as server:
        yield server


@pytest.fixture
def group(host: EngineWorkerQueue) -> Iterator[Group]:
    """Two ranks on a replica of their own."""
    with opened_group(host) as group:
        yield group


# -- shapes --------------------------------------------------------------------------------------------------------


def test_responses_are_one_dict(group: Group) -> None:
    engine, (zero, one) = group.engine, group.ranks
    assert engine.get_connect_rdma_task_response() is None
    assert zero.put_connect_rdma_task_response({"task_id": 7, "success": True, "port": 1}) is False
    assert engine.get_connect_rdma_task_response() is None
    assert one.put_connect_rdma_task_response({"task_id": 7, "success": 0, "port": 2}) is True
    assert engine.get_connect_rdma_task_response() == {"task_id": 7, "success": False, "port": 1}
    assert engine.get_connect_rdma_task_response() is None


def test_finished_requests_are_a_list_of_one_list(group: Group) -> None:
    engine, (zero, one) = group.engine, group.ranks
    assert engine.get_finished_req() == []
    zero.put_finished_req([("a", "finished")])
    one.put_finished_req((["a", "write cache error"],))
    got = engine.get_finished_req()
    assert got == [["a", "write cache error"]]
    assert (type(got), type(got[0])) == (list, list)
    assert engine.get_finished_req() == []


def test_several_finished_requests_of_one_call_are_collected_one_by_one(group: Group) -> None:
    for rank in group.ranks:
        rank.put_finished_req([["a", "finished"], ["b", "finished"]])
    assert [group.engine.get_finished_req() for _ in range(3)] == [[["a", "finished"]], [["b", "finished"]], []]


def test_added_tasks_are_the_list(group: Group) -> None:
    engine, (zero, one) = group.engine, group.ranks
    assert engine.get_finished_add_cache_task_req() == []
    assert zero.put_finished_add_cache_task_req(["a", "b"]) is False
    assert one.put_finished_add_cache_task_req(("a", "b")) is True
    assert engine.get_finished_add_cache_task_req() == ["a", "b"]


def test_the_gates_are_apart(group: Group) -> None:
    group.ranks[0].put_finished_req([["a", "finished"]])
    group.ranks[1].put_finished_add_cache_task_req(["a"])
    assert (group.engine.get_finished_req(), group.engine.get_finished_add_cache_task_req()) == ([], [])


def test_rounds_come_in_the_order_in_which_they_began(group: Group) -> None:
    zero, one = group.ranks
    for number in range(5):
        zero.put_finished_req([[number, "finished"]])
    for number in (4, 2, 0, 1, 3):
        one.put_finished_req([[number, "finished"]])
    assert [group.engine.get_finished_req()[0][0] for _ in range(5)] == [0, 1, 2, 3, 4]


# -- bad input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "argument", "kind"),
    [
        (PUTS[0], {}, ConfigError),
        (PUTS[0], {"task_id": 1}, ConfigError),
        (PUTS[0], None, ConfigError),
        (PUTS[0], [("success", True)], ConfigError),
        (PUTS[0], {"task_id": 1.5, "success": True}, ConfigError),
        (PUTS[0], {"task_id": True, "success": True}, ConfigError),
        (PUTS[0], {"task_id": {}, "success": True}, ConfigError),
        (PUTS[0], {"task_id": 1, "success": True, "reason": lambda: None}, PayloadError),
        (PUTS[0], {"task_id": 1, "success": True, "reason": "x" * (1 << 21)}, PayloadTooLargeError),
        (PUTS[1], [], ConfigError),
        (PUTS[1], None, ConfigError),
        (PUTS[1], "ab", ConfigError),
        (PUTS[1], ["ab"], ConfigError),
        (PUTS[1], [["a"]], ConfigError),
        (PUTS[1], [["a", "finished"], ["b"]], ConfigError),
        (PUTS[1], [["a", "finished"], [b"b", "finished"]], ConfigError),
        (PUTS[1], [["x" * (1 << 21), "finished"]], PayloadTooLargeError),
        (PUTS[2], [], ConfigError),
        (PUTS[2], "abc", ConfigError),
        (PUTS[2], 7, ConfigError),
        (PUTS[2], [object()], ConfigError),
    ],
)
def test_what_can_not_be_an_answer_is_refused_and_puts_nothing(
    group: Group, method: str, argument: Any, kind: type[FdcommError]
) -> None:
    with pytest.raises(kind, match=method) as caught:
        getattr(group.ranks[0], method)(argument)
    assert caught.value.operation == method
    assert [group.engine._view(gate, name="view")["rounds"] for gate in ("connect_response", "send_cache")] == [[], []]


@pytest.mark.parametrize("timeout", [-1, "1", float("nan"), True])
@pytest.mark.parametrize("method", GETS)
def test_a_limit_that_is_none_is_refused(group: Group, method: str, timeout: Any) -> None:
    for name in ("timeout", "round_timeout"):
        with pytest.raises(ConfigError):
            getattr(group.engine, method)(**{name: timeout})


def test_ids_that_are_equal_are_one_request(group: Group) -> None:
    """Whatever made them: a subclass of str, a number of numpy, a tuple in one rank and a list in the other."""
    zero, one = group.ranks
    for left, right in ((Name("a"), "a"), (np.int64(3), 3), (("x", "x"), ["x", "x" * len("1")])):
        zero.put_finished_req([[left, "finished"]])
        assert one.put_finished_req([[right, "finished"]]) is True
        assert group.engine.get_finished_req() != []


def test_ids_that_differ_in_type_are_two_requests(group: Group) -> None:
    group.ranks[0].put_finished_req([["1", "finished"]])
    assert group.ranks[1].put_finished_req([[1, "finished"]]) is False


def test_a_handle_without_a_rank_can_not_answer(group: Group) -> None:
    with group.client(0, "producer") as producer:
        for handle in (producer, group.engine):
            with pytest.raises(RankError):
                handle.put_finished_req([["a", "finished"]])


def test_a_second_handle_of_a_rank_can_not_answer(group: Group) -> None:
    group.ranks[0].put_finished_req([["a", "finished"]])
    with group.client(0) as second, pytest.raises(DuplicateRankError) as caught:
        second.put_finished_req([["a", "finished"]])
    assert caught.value.missing == (0,)


def test_a_closed_handle_is_refused(group: Group) -> None:
    handle = group.client(1)
    handle.close()
    for call in (lambda: handle.put_finished_req([["a", "finished"]]), handle.get_finished_req):
        with pytest.raises(ClosedError):
            call()


def test_answers_that_can_not_be_combined_end_their_round_only(group: Group, monkeypatch: pytest.MonkeyPatch) -> None:
    """The put refuses a response without "success"; a rank with other code may send it all the same."""
    zero, one = group.ranks
    zero._act("connect_response", "put_answer", 1, zero._pickle({"task_id": 1}, "put"), 0.0, "put", name="put")
    one.put_connect_rdma_task_response({"task_id": 1, "success": True})
    with pytest.raises(InconsistentAnswersError, match="success"):
        group.engine.get_connect_rdma_task_response()
    assert group.engine.get_connect_rdma_task_response() is None
    for rank in group.ranks:
        rank.put_connect_rdma_task_response({"task_id": 2, "success": True})
    assert group.engine.get_connect_rdma_task_response() == {"task_id": 2, "success": True}
