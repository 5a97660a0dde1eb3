"""SIGKILL at each step of each barrier of the two queues: nobody passes alone, and who waits is told at once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fdcomm import PeerLostError
from tests.conformance.waiting import Background
from tests.faults.cache_world import BARRIERS, POINTS, World, at_once, die, opened
from tests.faults.remote import LIMIT_S, until


@pytest.fixture(scope="module")
def worlds() -> Iterator[dict[str, World]]:
    """One host of each kind for all kills: each has to leave it as it was."""
    with opened("worker") as worker, opened("cache") as cache:
        yield {"worker": worker, "cache": cache}


@pytest.mark.parametrize(
    ("kind", "barrier"), [(kind, barrier) for kind, names in BARRIERS.items() for barrier in names]
)
def test_a_waiting_rank_is_killed(worlds: dict[str, World], kind: str, barrier: str) -> None:
    """Its arrival goes with it: the other rank does not pass alone, and is told at once."""
    world = worlds[kind]
    view = getattr(world.engine, barrier)
    passed = view.generation
    with world.victim() as victim:
        victim.send("call", f"{barrier}.wait", None)
        until(lambda: view.n_waiting == 1, "rank 0 waits")
        victim.kill()
        until(lambda: view.n_waiting == 0, "its arrival is withdrawn")
    outcome = at_once(lambda: getattr(world.one, barrier).wait(LIMIT_S))
    assert isinstance(outcome, PeerLostError)
    assert outcome.missing == (0,)
    assert view.generation == passed
    with world.rank(0) as again:
        assert world.meet(barrier, again, world.one) == [0, 1]
    world.check()


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize(("kind", "barrier"), [("worker", "connect_task_barrier"), ("cache", "barrier0")])
def test_the_last_rank_of_a_round_is_killed(worlds: dict[str, World], kind: str, barrier: str, point: str) -> None:
    """The round was passed, and then for all; or the rank that waits is told."""
    world = worlds[kind]
    view = getattr(world.engine, barrier)
    with world.victim() as victim:
        victim.send("call", f"{barrier}.wait", LIMIT_S)  # one round before, so that rank 0 is known here
        until(lambda: view.n_waiting == 1, "rank 0 waits")
        passed = view.generation + 1
        getattr(world.one, barrier).wait(LIMIT_S)
        victim.answer()
        waiting = Background(lambda: getattr(world.one, barrier).wait(LIMIT_S))
        until(lambda: view.n_waiting == 1, "rank 1 waits")
        die(victim, point, f"{barrier}.wait", LIMIT_S)
        error = at_once(waiting.error)
    if point == "call.received":
        assert error is None
    if error is None:
        assert view.generation == passed + 1
    else:
        assert isinstance(error, PeerLostError)
        assert error.missing == (0,)
        assert view.generation == passed
    world.check()


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("method", ["abort", "reset"])
def test_a_process_that_ends_a_round_is_killed(worlds: dict[str, World], method: str, point: str) -> None:
    world = worlds["cache"]
    if method == "reset":
        world.engine.barrier.abort()
    with world.victim() as victim:
        die(victim, point, f"barrier.{method}")
    until(lambda: world.engine.statistics().sessions == 2, "the host sees the end")
    if point != "call.sent":
        done = point == "call.received"
        assert world.engine.barrier.broken == (done if method == "abort" else not done)
    until(lambda: world.engine.barrier.reset() or not world.engine.barrier.broken, "no abort is left")
    world.check()
