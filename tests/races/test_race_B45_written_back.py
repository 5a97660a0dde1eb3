"""B45: a worker writes back the word that it has read, over the request that came meanwhile."""

import pytest

from tests.races.shipped_status import CLEARED, UPDATING, ShippedStatus
from tests.races.status_race import StatusOurs, StatusRace

pytestmark = pytest.mark.multiproc


def shipped(words: ShippedStatus) -> str:
    words.weights, words.kv, words.tree = CLEARED, CLEARED, CLEARED
    worker = words.worker(0, words.weights, write_back=True)
    worker.run("told")
    update, tree = words.update(), words.tree_thread()
    update.run("wait for the tree")
    tree.run()
    update.run("asked")
    assert words.weights == UPDATING
    worker.run()
    return "the request is overwritten by a copy of the word before it" if words.weights == CLEARED else ""


def ours(engine: StatusOurs) -> str:
    if not engine.done("clear").ok:
        return "the clear fails"
    engine.coordinator.words()  # whoever reads has no word to write back
    update = engine.ask("update")
    order = engine.order(("prefix_tree", 0))
    order.done()
    engine.serve(update)
    return "" if update.value().ok and engine.words() == [0, 0, 0] else f"the words are {engine.words()}"


RACE = StatusRace(("B45",), shipped, ours, "the request is overwritten")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
