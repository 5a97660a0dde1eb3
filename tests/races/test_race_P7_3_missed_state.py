"""P7.3: a worker rank polls for a value that was there and is gone."""

import pytest

from fdcomm.errors import StatusBusyError
from tests.races.shipped_status import ShippedStatus
from tests.races.status_race import StatusOurs, StatusRace

pytestmark = pytest.mark.multiproc


def shipped(words: ShippedStatus) -> str:
    movers = [words.mover(rank) for rank in range(2)]
    asking, tree = words.clear(), words.tree_thread()
    asking.run("asked")
    workers = [words.worker(rank, words.weights) for rank in range(2)]
    workers[1].run("written")  # and looks again later
    workers[0].run()
    for _ in range(3):
        for actor in (*movers, asking, tree):
            actor.run()
    assert asking.result == 200
    update = words.update()
    update.run("wait for the tree")
    tree.run()
    update.run("asked")
    return "" if workers[1].run() else "worker rank 1 polls for CLEARED for ever: the word is UPDATING"


def ours(engine: StatusOurs) -> str:
    slow = ("model_weights", 1)
    clear = engine.ask("clear")
    order = engine.order(slow)
    if not isinstance(engine.ask("update").error(), StatusBusyError):
        return "an update begins while a rank is clearing"
    order.done()
    engine.serve(clear)
    if not clear.value().ok:
        return f"the clear ends with {clear.value()}"
    update = engine.ask("update")
    engine.serve(update)
    return "" if update.value().ok and engine.words() == [0, 0, 0] else f"the words are {engine.words()}"


RACE = StatusRace(("P7.3",), shipped, ours, "polls for CLEARED for ever")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
