"""restarted-part: a rank is started again while everything is cleared, and counts as cleared."""

import pytest

from tests.races.shipped_status import ShippedStatus
from tests.races.status_race import StatusOurs, StatusRace

pytestmark = pytest.mark.multiproc


def shipped(words: ShippedStatus) -> str:
    movers = [words.mover(rank) for rank in range(2)]
    asking, tree = words.clear(), words.tree_thread()
    asking.run("asked")
    words.worker(0, words.weights).run()
    for _ in range(3):
        for actor in (*movers, asking, tree):
            actor.run()
    assert asking.result == 200
    words.holds[1], words.ready[1], movers[1] = "full", 1, words.mover(1)  # a new process
    movers[1].run()
    again = words.clear()
    again.run()
    if again.result != 200 or words.holds[1] != "full":
        return ""
    return f"the words say {words.kv}, a clear is answered {again.result}, and rank 1 holds its memory"


def ours(engine: StatusOurs) -> str:
    party = ("kv_cache", 1)
    if not engine.done("clear").ok:
        return "the clear fails"
    engine.lose(party)
    engine.start(party)
    if not engine.coordinator.word("kv_cache").partial:
        return "a new process counts as cleared"
    again = engine.done("clear")
    if not again.ok or {report.component for report in again.reports} != {"kv_cache"}:
        return f"the second clear ends with {again}"
    return engine.works()


RACE = StatusRace(("restarted-part",), shipped, ours, "holds its memory")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
