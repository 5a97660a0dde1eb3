"""P7.6: the thread that clears dies of an exception, and its word stays CLEARING."""

import pytest

from tests.conformance.waiting import Background
from tests.races.shipped_status import CLEARING, ShippedStatus
from tests.races.status_race import StatusOurs, StatusRace

pytestmark = pytest.mark.multiproc


def shipped(words: ShippedStatus) -> str:
    movers = [words.mover(rank) for rank in range(2)]
    asking, tree = words.clear(polls=100), words.tree_thread(raises=True)
    asking.run("asked")
    words.worker(0, words.weights).run()
    for _ in range(3):
        for actor in (*movers, asking, tree):
            actor.run()
    assert tree.error is not None
    return "" if words.tree != CLEARING else f"the thread has died of {tree.error!r}; every later clear finds no one"


def ours(engine: StatusOurs) -> str:
    tree = ("prefix_tree", 0)
    clear = engine.ask("clear")
    engine.serve(clear, fails=[tree])
    failed = clear.value().failed
    if clear.value().ok or [(report.component, report.reason) for report in failed] != [("prefix_tree", "on purpose")]:
        return f"the clear ends with {clear.value()}"
    clear = engine.ask("clear")
    engine.serve(Background(lambda: engine.order(tree)), without=[tree])
    engine.lose(tree)
    if [report.reason for report in clear.value().failed] != ["its process is gone"]:
        return f"the clear ends with {clear.value()}"
    engine.start(tree)
    return engine.works()


RACE = StatusRace(("P7.6",), shipped, ours, "every later clear")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
