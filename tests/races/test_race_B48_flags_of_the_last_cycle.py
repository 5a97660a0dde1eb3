"""B48: a rank restores while another one still waits for all flags to be down."""

import pytest

from tests.races.shipped_status import UPDATING, ShippedStatus
from tests.races.status_race import StatusOurs, StatusRace

pytestmark = pytest.mark.multiproc


def shipped(words: ShippedStatus) -> str:
    movers = [words.mover(rank) for rank in range(2)]
    words.clear().run("asked")
    words.worker(0, words.weights).run()
    movers[0].run("wait for the pause")
    movers[1].run("paused")
    movers[1].run("wait for all to clear")  # and looks again later
    movers[0].run("said cleared")
    words.kv = UPDATING  # the update that follows
    movers[0].run("restored")
    stuck = sum(words.ready) == 1 and not movers[1].run("said normal") and not movers[0].run("said normal")
    return "rank 1 waits for flags that are up again, and rank 0 for rank 1" if stuck else ""


def ours(engine: StatusOurs) -> str:
    for cycle in range(3):
        clear = engine.ask("clear")
        engine.order(("kv_cache", 0)).done()
        slow = engine.order(("kv_cache", 1))
        if engine.words()[1] != -1 or engine.parts["kv_cache", 0].take() is not None:
            return f"cycle {cycle}: a rank goes on before the other has cleared: {engine.words()}"
        slow.done()
        engine.serve(clear)
        if not clear.value().ok or not engine.done("update").ok:
            return f"cycle {cycle}: {clear.value()}"
    return ""


RACE = StatusRace(("B48",), shipped, ours, "waits for flags")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
