"""P7.5: a clear that begins with the prefix tree waits for what only the cache's clear does."""

import pytest

from tests.races.shipped_status import ShippedStatus
from tests.races.status_race import StatusOurs, StatusRace

pytestmark = pytest.mark.multiproc


def shipped(words: ShippedStatus) -> str:
    movers = [words.mover(rank) for rank in range(2)]
    asking, tree = words.clear(tree_first=True), words.tree_thread()
    for _ in range(3):
        for actor in (asking, tree, *movers):
            actor.run()
    if asking.ended:
        return ""
    return f"the prefix tree waits for transfers for ever: none is paused, and the weights' word is {words.weights}"


def ours(engine: StatusOurs) -> str:
    tree = ("prefix_tree", 0)
    clear = engine.ask("clear")
    orders = [engine.order(party) for party in engine.parts if party != tree]
    if engine.parts[tree].take() is not None or engine.words() != [-1, -1, 0]:
        return f"the tree is asked before the cache is cleared: {engine.words()}"
    for order in orders:
        order.done()
    engine.serve(clear)
    update = engine.ask("update")
    order = engine.order(tree)
    if engine.words() != [-2, -2, 1]:
        return f"an update begins with {engine.words()}"
    order.done()
    engine.serve(update)
    return "" if clear.value().ok and update.value().ok and engine.words() == [0, 0, 0] else f"{engine.words()}"


RACE = StatusRace(("P7.5",), shipped, ours, "waits for transfers for ever")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
