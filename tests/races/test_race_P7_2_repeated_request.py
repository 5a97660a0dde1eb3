"""P7.2: every worker rank writes the request, the last one after it was carried out."""

import pytest

from fdcomm.errors import StatusBusyError
from fdcomm.status import http_code
from tests.races.shipped_status import ShippedStatus
from tests.races.status_race import StatusOurs, StatusRace

pytestmark = pytest.mark.multiproc


def shipped(words: ShippedStatus) -> str:
    movers = [words.mover(rank) for rank in range(2)]
    words.clear().run("asked")
    workers = [words.worker(rank, words.weights) for rank in range(2)]
    workers[1].run("told")  # and is late
    workers[0].run("written")
    movers[0].run("wait for the pause")
    movers[1].run("paused")
    movers[0].run("wait for all to clear")
    movers[1].run("all are down")
    movers[0].run("said cleared")
    workers[1].run("written")
    movers[0].run("wait for the pause")
    movers[1].run("said cleared")
    alone = not movers[0].run("paused") and not movers[1].run("paused")
    return "a transfer rank pauses alone, and waits for the other for ever" if alone else ""


def ours(engine: StatusOurs) -> str:
    clear = engine.ask("clear")
    order = engine.order(("kv_cache", 0))
    for goal in ("clear", "update"):
        error = engine.ask(goal).error()
        if not isinstance(error, StatusBusyError) or http_code(error, goal) != (400 if goal == "clear" else 403):
            return f"a {goal} while one is under way ends with {error!r}"
    order.done()
    if engine.parts["kv_cache", 0].take() is not None:
        return "a rank is asked twice"
    engine.serve(clear)
    if not clear.value().ok or len(clear.value().reports) != 5:
        return f"the clear ends with {clear.value()}"
    again = engine.done("clear")
    return "" if again.ok and not again.reports else f"a clear of what is cleared ends with {again}"


RACE = StatusRace(("P7.2",), shipped, ours, "pauses alone")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
