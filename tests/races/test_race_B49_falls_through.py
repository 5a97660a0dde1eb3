"""B49: a loop does its half of an update, and goes on to run a step on caches that are not there yet."""

import pytest

from fdcomm import EngineCacheQueue, PauseControl
from fdcomm.errors import CommTimeoutError
from tests.races.pipes import WATCHDOG_S
from tests.races.shipped_status import UPDATING, Actor, Program, ShippedStatus
from tests.races.status_race import StatusOurs, StatusRace

pytestmark = pytest.mark.multiproc

WORKER = ("model_weights", 0)


def _turn(words: ShippedStatus, ran: list[list[str]]) -> Program:
    """One turn of rank 0's loop, with a batch that it had at hand before."""
    seen = words.weights
    yield "looked"
    if seen == UPDATING:
        yield from words.worker(0, seen).program
    ran.append(list(words.holds))
    return 0


def shipped(words: ShippedStatus) -> str:
    movers, tree = [words.mover(rank) for rank in range(2)], words.tree_thread()
    clear = words.clear()
    clear.run("asked")
    words.worker(0, words.weights).run()
    for _ in range(3):
        for actor in (*movers, clear, tree):
            actor.run()
    assert clear.result == 200
    update = words.update()
    update.run("wait for the tree")
    tree.run()
    update.run("asked")
    ran: list[list[str]] = []
    Actor(_turn(words, ran)).run()
    return f"a step ran on the caches {ran[0]}" if "empty" in ran[0] else ""


def ours(engine: StatusOurs) -> str:
    """A step is a job, and what changes memory holds a pause: the loop may fall through as it likes."""
    with EngineCacheQueue(("0.0.0.0", 0), is_server=True, num_client=2) as server:
        with EngineCacheQueue(server.address, num_client=2, client_id=WORKER[1]) as queue:
            with PauseControl(queue, rank=True) as rank:
                return _in_a_pause(engine, PauseControl(server), rank)


def _in_a_pause(engine: StatusOurs, api: PauseControl, rank: PauseControl) -> str:
    with api.paused(timeout=WATCHDOG_S):
        if not engine.done("clear").ok:
            return "the clear failed"
        update = engine.ask("update")
        engine.order(("prefix_tree", 0)).done()
        engine.order(WORKER).done()
        try:
            rank.admit(timeout=0).done()
        except CommTimeoutError:
            pass
        else:
            return f"a step is admitted while the words are {engine.words()}"
        engine.serve(update)
        if not update.value().ok:
            return f"the update ends with {update.value()}"
    with rank.admit(timeout=WATCHDOG_S):
        words = engine.words()
    return "" if words == [0, 0, 0] else f"a step runs while the words are {words}"


RACE = StatusRace(("B49",), shipped, ours, "a step ran on the caches")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
