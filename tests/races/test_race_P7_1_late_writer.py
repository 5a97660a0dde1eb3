"""P7.1: a transfer rank that is late writes the end of the last request over the next one."""

import pytest

from fdcomm.errors import CommTimeoutError, StaleReportError
from tests.conformance.waiting import Background
from tests.races.race import wait_until
from tests.races.shipped_status import ShippedStatus
from tests.races.status_race import StatusOurs, StatusRace

pytestmark = pytest.mark.multiproc


def shipped(words: ShippedStatus) -> str:
    movers = [words.mover(rank) for rank in range(2)]
    asking, tree = words.clear(), words.tree_thread()
    asking.run("asked")
    words.worker(0, words.weights).run()
    movers[0].run("wait for the pause")
    movers[1].run("paused")
    movers[0].run("wait for all to clear")
    movers[1].run("all are down")  # and is late: the other one writes
    movers[0].run("said cleared")
    for _ in range(2):
        asking.run()
        tree.run()
    assert asking.run()
    assert asking.result == 200
    update = words.update()
    update.run("wait for the tree")
    tree.run()
    update.run("asked")
    words.worker(0, words.weights).run()
    movers[1].run("said cleared")
    for _ in range(3):
        for actor in (*movers, update):
            actor.run()
    if update.ended:
        return ""
    return f"the update is lost: the cache's word is {words.kv}, and the API server polls for ever"


def ours(engine: StatusOurs) -> str:
    slow = ("kv_cache", 1)
    clear = engine.ask("clear", timeout=1.0)
    order = engine.order(slow)
    engine.serve(clear, without=[slow])
    if not isinstance(clear.error(), CommTimeoutError):
        return f"the clear ended with {clear.error()!r} without a rank"
    update = engine.ask("update")
    engine.serve(Background(lambda: wait_until("the tree", lambda: engine.words()[2] == 0)), without=[slow])
    try:
        order.done()
    except StaleReportError:
        engine.serve(update)
        return "" if update.value().ok and engine.words() == [0, 0, 0] else f"the words are {engine.words()}"
    return "the late report was taken"


RACE = StatusRace(("P7.1",), shipped, ours, "the update is lost")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
