"""P7.4: a caller looks once a second for CLEARED, and another one has begun an update meanwhile."""

import pytest

from tests.races.shipped_status import ShippedStatus
from tests.races.status_race import ALL, StatusOurs, StatusRace

pytestmark = pytest.mark.multiproc


def shipped(words: ShippedStatus) -> str:
    movers, tree = [words.mover(rank) for rank in range(2)], words.tree_thread()
    first = words.clear(polls=100)
    first.run("asked")
    words.worker(0, words.weights).run()
    for _ in range(3):
        for mover in movers:
            mover.run()
    assert (words.weights, words.kv) == (-2, -2)
    second = words.update()  # of another API server, which takes no lock
    for until in ("wait for the tree", "asked"):
        second.run(until)
        tree.run()
    for _ in range(2):
        first.run()
    if first.result != 404:
        return ""
    return "all was cleared, and the caller of the clear is answered 404: CLEARED was gone when it looked"


def ours(engine: StatusOurs) -> str:
    first = engine.ask("clear")
    for party in ALL:
        engine.order(party).done()
    second = engine.ask("update")  # whether or not the first caller has woken
    engine.serve(second)
    if not first.value().ok or first.value().goal != "clear":
        return f"the clear ends with {first.value()}"
    done = {(report.component, report.part) for report in first.value().reports}
    if done != set(ALL):
        return f"the clear tells of {sorted(done)}"
    return "" if second.value().ok and engine.words() == [0, 0, 0] else f"the words are {engine.words()}"


RACE = StatusRace(("P7.4",), shipped, ours, "CLEARED was gone when it looked")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
