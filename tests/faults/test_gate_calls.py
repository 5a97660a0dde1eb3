"""Answers of all ranks through real handles: exact shapes, bad input, late and unequal answers, waiting, host's end."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

from fdcomm import (
    ClosedError,
    CommTimeoutError,
    ConfigError,
    DuplicateRankError,
    EngineWorkerQueue,
    FdcommError,
    HostLostError,
    PayloadError,
    PayloadTooLargeError,
    PeerLostError,
    RankError,
)
from fdcomm.errors import InconsistentAnswersError, StaleAnswerError
from tests.conformance.backends import lose
from tests.conformance.waiting import Background
from tests.faults.remote import LIMIT_S, host_pid, until

_replicas = pytest.StashKey[int]()

PUTS = ("put_connect_rdma_task_response", "put_finished_req", "put_finished_add_cache_task_req")
GETS = ("get_connect_rdma_task_response", "get_finished_req", "get_finished_add_cache_task_req")


class Name(str):
    """An id as another library may make it."""

    __slots__ = ()


class Group:
    """An engine and two ranks on one replica of a host."""

    def __init__(self, host: EngineWorkerQueue, replica: int = 0) -> None:
        self.host = host
        self.replica = replica
        self.engine = self.client(0, "producer")
        self.ranks = [self.client(0), self.client(1)]

    def client(self, rank: int, role: Any = None) -> EngineWorkerQueue:
        return EngineWorkerQueue(
            self.host.address, num_client=2, client_id=rank, local_data_parallel_id=self.replica, role=role
        )

    def view(self) -> dict[str, Any]:
        return self.engine._view("send_cache", name="view")

    def close(self) -> None:
        for handle in (self.engine, *self.ranks):
            handle.close()


@pytest.fixture(scope="module")
def host() -> Iterator[EngineWorkerQueue]:
    """One host for all tests, with a replica for each."""
    with EngineWorkerQueue(
        ("0.0.0.0", 0), is_server=True, num_client=2, local_data_parallel_size=200, max_batch_bytes=1 << 20
    ) as server:
        yield server


@pytest.fixture
def group(host: EngineWorkerQueue, request: pytest.FixtureRequest) -> Iterator[Group]:
    """Two ranks; afterwards a request is served as ever."""
    number = request.session.stash.setdefault(_replicas, 0) + 1
    request.session.stash[_replicas] = number
    group = Group(host, number)
    try:
        yield group
        for _ in range(65):  # what the test has left open
            with contextlib.suppress(FdcommError):
                if not group.engine.get_finished_req(round_timeout=0):
                    break
        for rank in group.ranks:
            rank.put_finished_req([["still works", "finished"]])
        assert group.engine.get_finished_req() == [["still works", "finished"]]
    finally:
        group.close()


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


# -- ranks that differ ---------------------------------------------------------------------------------------------


def test_different_lists_are_different_rounds_and_each_ends_by_name(group: Group) -> None:
    zero, one = group.ranks
    zero.put_finished_add_cache_task_req(["a", "b"])
    one.put_finished_add_cache_task_req(["a"])
    ends = []
    for _ in range(2):
        with pytest.raises(CommTimeoutError, match="has not answered request") as caught:
            group.engine.get_finished_add_cache_task_req(round_timeout=0)
        ends.append((caught.value.missing, caught.value.request))
    assert ends == [((1,), ("a", "b")), ((0,), ("a",))]
    assert group.engine.get_finished_add_cache_task_req() == []


def test_a_rank_that_passes_over_a_request_holds_up_nothing(group: Group) -> None:
    zero, one = group.ranks
    zero.put_finished_req([["skipped", "finished"]])
    for number in range(3):
        for rank in (one, zero):
            rank.put_finished_req([[number, "finished"]])
        assert group.engine.get_finished_req() == [[number, "finished"]]
    with pytest.raises(CommTimeoutError) as caught:
        group.engine.get_finished_req(round_timeout=0)
    assert (caught.value.missing, caught.value.request) == ((1,), "skipped")
    # The same id comes again. The rank is told that it has missed it, knows better, and puts again.
    zero.put_finished_req([["skipped", "again"]])
    with pytest.raises(StaleAnswerError) as stale:
        one.put_finished_req([["skipped", "again"]])
    assert (stale.value.missing, stale.value.request) == ((1,), "skipped")
    one.put_finished_req([["skipped", "again"]])
    assert group.engine.get_finished_req() == [["skipped", "again"]]


def test_the_pairs_after_a_late_one_are_put(group: Group) -> None:
    zero, one = group.ranks
    zero.put_finished_req([["late", "finished"]])
    with pytest.raises(CommTimeoutError):
        group.engine.get_finished_req(round_timeout=0)
    with pytest.raises(StaleAnswerError):
        one.put_finished_req([["late", "finished"], ["next", "finished"]])
    zero.put_finished_req([["next", "finished"]])
    assert group.engine.get_finished_req() == [["next", "finished"]]


def test_what_a_rank_owes_is_bounded(group: Group) -> None:
    zero = group.ranks[0]
    for number in range(300):
        zero.put_finished_req([[number, "finished"]])
        with pytest.raises(CommTimeoutError):
            group.engine.get_finished_req(round_timeout=0)
    assert group.view()["late"] == [0, 256]


def test_a_lost_rank_ends_only_the_rounds_that_it_has_not_answered(group: Group) -> None:
    zero, one = group.ranks
    one.put_finished_req([["answered", "finished"]])
    zero.put_finished_req([["not answered", "finished"]])
    lose(one)
    until(lambda: group.view()["lost"] == [1], "the fence")
    zero.put_finished_req([["begun while it is lost", "finished"]])
    zero.put_finished_req([["answered", "finished"]])
    assert group.engine.get_finished_req(round_timeout=None) == [["answered", "finished"]]
    for request in ("not answered", "begun while it is lost"):
        with pytest.raises(PeerLostError, match="restart the rank") as caught:
            group.engine.get_finished_req(round_timeout=None)
        assert (caught.value.missing, caught.value.request) == ((1,), request)
    assert group.engine.get_finished_req(round_timeout=None) == []
    group.ranks[1] = group.client(1)
    zero.put_finished_req([["begun after its return", "finished"]])
    assert group.engine.get_finished_req(round_timeout=None) == []  # it is waited for, though it has said nothing yet
    group.ranks[1].put_finished_req([["begun after its return", "finished"]])
    assert group.engine.get_finished_req(round_timeout=None) == [["begun after its return", "finished"]]


# -- waiting -------------------------------------------------------------------------------------------------------


def test_a_collect_waits_for_the_last_answer(group: Group) -> None:
    zero, one = group.ranks
    zero.put_finished_req([["a", "finished"]])
    waiting = Background(lambda: group.engine.get_finished_req(timeout=LIMIT_S))
    assert waiting.is_running()
    one.put_finished_req([["a", "finished"]])
    assert waiting.value() == [["a", "finished"]]


def test_two_engines_that_wait_get_one_round_each(group: Group) -> None:
    with group.client(0, "producer") as other:
        waiting = [Background(partial(e.get_finished_req, timeout=LIMIT_S)) for e in (group.engine, other)]
        for number in (1, 2):
            for rank in group.ranks:
                rank.put_finished_req([[number, "finished"]])
        assert sorted(call.value()[0][0] for call in waiting) == [1, 2]


def test_a_collect_ends_by_its_limit_and_changes_nothing(group: Group) -> None:
    with pytest.raises(CommTimeoutError, match="no rank has answered"):
        group.engine.get_finished_req(timeout=0.01)
    group.ranks[0].put_finished_req([["a", "finished"]])
    with pytest.raises(CommTimeoutError, match="nothing was ended") as caught:
        group.engine.get_finished_req(timeout=0.01)
    assert (caught.value.missing, caught.value.request) == ((1,), "a")
    assert group.ranks[1].put_finished_req([["a", "finished"]]) is True


def test_a_waiting_collect_ends_a_round_when_its_limit_comes(group: Group) -> None:
    group.ranks[0].put_finished_req([["a", "finished"]])
    with pytest.raises(CommTimeoutError, match="its round was ended"):
        group.engine.get_finished_req(timeout=LIMIT_S, round_timeout=0.05)
    assert group.view()["rounds"] == []


def test_a_second_answer_waits_for_the_end_of_the_first_ones_round(group: Group) -> None:
    zero, one = group.ranks
    zero.put_finished_req([["a", "first"]])
    second = Background(lambda: zero.put_finished_req([["a", "second"]], timeout=LIMIT_S))
    one.put_finished_req([["a", "first"]])
    assert group.engine.get_finished_req(timeout=LIMIT_S) == [["a", "first"]]
    assert second.value() is False
    one.put_finished_req([["a", "second"]])
    assert group.engine.get_finished_req() == [["a", "second"]]


def test_rounds_are_bounded_and_room_wakes_who_waits(group: Group) -> None:
    zero, one = group.ranks
    for number in range(64):
        zero.put_finished_req([[number, "finished"]])
    with pytest.raises(CommTimeoutError, match="too many rounds are open") as caught:
        zero.put_finished_req([["more", "finished"]], timeout=0)
    assert caught.value.missing == (1,)
    waiting = Background(lambda: zero.put_finished_req([["more", "finished"]], timeout=LIMIT_S))
    one.put_finished_req([[0, "finished"]])
    assert group.engine.get_finished_req() == [[0, "finished"]]
    assert waiting.value() is False


@pytest.mark.parametrize("wait", ["collect", "put"])
def test_the_end_of_the_host_ends_the_wait(wait: str) -> None:
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=2) as engine:
        group = Group(engine)
        zero = group.ranks[0]
        zero.put_finished_req([["a", "finished"]])
        calls: dict[str, Callable[[], Any]] = {
            "collect": lambda: engine.get_finished_req(timeout=LIMIT_S),
            "put": lambda: zero.put_finished_req([["a", "finished"]], timeout=LIMIT_S),
        }
        waiting = Background(calls[wait])
        os.kill(host_pid(engine), signal.SIGKILL)
        assert isinstance(waiting.error(), HostLostError)
        group.close()
