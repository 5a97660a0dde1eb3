"""B47: the cache waits for the weights' word, and the weights for the cache's."""

import pytest

from tests.races.shipped_status import ShippedStatus
from tests.races.status_race import StatusOurs, StatusRace

pytestmark = pytest.mark.multiproc


def shipped(words: ShippedStatus) -> str:
    movers = [words.mover(rank, cross_wait=True) for rank in range(2)]
    asking, tree = words.clear(), words.tree_thread()
    asking.run("asked")
    words.worker(0, words.weights).run()
    for _ in range(3):
        for actor in (*movers, asking, tree):
            actor.run()
    assert asking.result == 200
    update = words.update()
    update.run("wait for the tree")
    tree.run()
    update.run("asked")
    worker = words.worker(0, words.weights, cross_wait=True)
    for _ in range(4):
        for actor in (worker, *movers, update):
            actor.run()
    if update.ended or worker.ended:
        return ""
    return f"each waits for the other: weights {words.weights}, cache {words.kv}"


def ours(engine: StatusOurs) -> str:
    if not engine.done("clear").ok:
        return "the clear fails"
    update = engine.ask("update")
    engine.order(("prefix_tree", 0)).done()
    # Parts of one stage are asked together and report by themselves: in whatever order, nobody waits for another.
    orders = [engine.order((name, part)) for name in ("kv_cache", "model_weights") for part in (1, 0)]
    for order in reversed(orders):
        order.done()
    return "" if update.value().ok and engine.words() == [0, 0, 0] else f"the words are {engine.words()}"


RACE = StatusRace(("B47",), shipped, ours, "each waits for the other")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
