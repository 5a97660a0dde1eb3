"""SIGSTOP of a rank that has to answer: the round ends by its limit and names it, and later it goes on."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from fdcomm import CommTimeoutError
from tests.faults.cache_world import World, opened
from tests.faults.remote import LIMIT_S, Failed, stopped, until

GATES: dict[str, tuple[str, str, Any]] = {
    # put: get, protocol, answer to request "n"
    "put_connect_rdma_task_response": (
        "get_connect_rdma_task_response",
        "connect_response",
        lambda n: {"task_id": n, "success": True},
    ),
    "put_finished_req": ("get_finished_req", "send_cache", lambda n: [[n, "finished"]]),
    "put_finished_add_cache_task_req": ("get_finished_add_cache_task_req", "add_cache", lambda n: [n]),
}
_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    """One host; each test leaves it as it was."""
    with opened("worker") as world:
        yield world


def _request() -> str:
    return f"request {next(_numbers)}"


@pytest.mark.parametrize("put", GATES)
def test_a_rank_is_stopped_before_its_answer(world: World, put: str) -> None:
    get, _, answer = GATES[put]
    mine, first, second = getattr(world.one, put), answer(_request()), answer(_request())
    with world.victim() as victim:
        for number in (_request(), _request()):  # it is a member of the gate
            assert victim.call(put, answer(number)) is False
            assert mine(answer(number), timeout=LIMIT_S) is True
            assert getattr(world.engine, get)(timeout=LIMIT_S) == answer(number)
        with stopped(victim.process.pid):
            victim.send("call", put, first)
            assert mine(first, timeout=LIMIT_S) is False
            with pytest.raises(CommTimeoutError) as caught:
                getattr(world.engine, get)(timeout=None, round_timeout=0.05)
            assert caught.value.missing == (0,)
            assert caught.value.request is not None
            assert mine(second, timeout=LIMIT_S) is False  # the next round begins without it
        with pytest.raises(Failed) as told:
            victim.answer()
        assert told.value.name == "StaleAnswerError"
        assert victim.call(put, second) is True
        assert getattr(world.engine, get)(timeout=LIMIT_S) == second
    world.check()


@pytest.mark.parametrize("put", GATES)
def test_a_rank_is_stopped_while_its_answer_waits(world: World, put: str) -> None:
    """Its answer counts when there is room for it, awake or not."""
    get, protocol, answer = GATES[put]
    again = answer(_request())
    mine = getattr(world.one, put)

    def rounds() -> list[list[int]]:
        return [ranks for _, ranks in world.engine._view(protocol, name="view")["rounds"]]

    with world.victim() as victim:
        assert victim.call(put, again) is False
        victim.start(put, again, timeout=LIMIT_S)  # waits for the end of the round that it has answered
        with stopped(victim.process.pid):
            assert mine(again, timeout=LIMIT_S) is True
            assert getattr(world.engine, get)(timeout=LIMIT_S) == again
            until(lambda: rounds() == [[0]], "the answer that waited begins the next round")
            assert mine(again, timeout=LIMIT_S) is True
            assert getattr(world.engine, get)(timeout=LIMIT_S) == again
        assert victim.answer() is False
    world.check()
