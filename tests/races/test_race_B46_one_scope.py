"""B46: a clear looks at one word, and says that all is cleared."""

import pytest

from fdcomm.errors import CommTimeoutError
from tests.races.shipped_status import ShippedStatus
from tests.races.status_race import StatusOurs, StatusRace

pytestmark = pytest.mark.multiproc


def shipped(words: ShippedStatus) -> str:
    first = words.clear(polls=5)
    first.run("asked")
    words.worker(0, words.weights).run()
    first.run()  # the transfer ranks are slow
    second = words.clear()
    second.run()
    if (first.result, second.result) != (404, 200):
        return ""
    return f"the second clear is answered {second.result}, and the cache is still in memory: {words.holds}"


def ours(engine: StatusOurs) -> str:
    slow = [("kv_cache", 0), ("kv_cache", 1)]
    first = engine.ask("clear", timeout=1.0)
    engine.serve(first, without=slow)
    if not isinstance(first.error(), CommTimeoutError):
        return f"the clear ended with {first.error()!r}"
    second = engine.ask("clear")
    engine.serve(second)
    done = {(report.component, report.part) for report in second.value().reports}
    wanted = {*slow, ("prefix_tree", 0)}  # the weights were cleared, and are left alone
    return "" if second.value().ok and done == wanted else f"the second clear did {sorted(done)}"


RACE = StatusRace(("B46",), shipped, ours, "is still in memory")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
