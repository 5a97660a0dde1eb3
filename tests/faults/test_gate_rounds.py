"""Rounds of answers through real handles: ranks that differ, are late or lost; calls that wait; the end of the host."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from fdcomm import (
    CommTimeoutError,
    EngineWorkerQueue,
    HostLostError,
    PeerLostError,
)
from fdcomm.errors import StaleAnswerError
from tests.conformance.backends import lose
from tests.conformance.waiting import Background
from tests.faults.gate_group import Group, opened_group, opened_host
from tests.faults.remote import LIMIT_S, host_pid, until


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
