"""P7.7: one rank's clear fails; it tries again by itself, and nobody is told."""

import pytest

from fdcomm.status import http_code
from tests.races.shipped_status import ShippedStatus
from tests.races.status_race import StatusOurs, StatusRace

pytestmark = pytest.mark.multiproc


def shipped(words: ShippedStatus) -> str:
    movers = [words.mover(0), words.mover(1, fails=True)]
    asking = words.clear(polls=100)
    asking.run("asked")
    words.worker(0, words.weights).run()
    for _ in range(3):
        for actor in (*movers, asking):
            actor.run()
    if asking.result != 404:
        return ""
    return f"rank 1 waits alone in the pause, and the API server says {asking.result} and not why"


def ours(engine: StatusOurs) -> str:
    clear = engine.ask("clear")
    engine.serve(clear, fails=[("kv_cache", 1)])
    told = [(report.component, report.part, report.reason) for report in clear.value().failed]
    if clear.value().ok or told != [("kv_cache", 1, "on purpose")] or http_code(clear.value()) != 404:
        return f"the clear ends with {clear.value()}"
    if engine.parts["kv_cache", 1].take() is not None:
        return "the rank is asked again by itself"
    again = engine.done("clear")
    if not again.ok or {report.component for report in again.reports} != {"kv_cache", "prefix_tree"}:
        return f"the second clear ends with {again}"
    return engine.works()


RACE = StatusRace(("P7.7",), shipped, ours, "waits alone in the pause")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
