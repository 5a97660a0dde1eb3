"""B54: the caller of a clear cannot tell a rank that is slow from one that has failed."""

import pytest

from fdcomm.errors import CommTimeoutError, StaleReportError
from tests.races.shipped_status import ShippedStatus
from tests.races.status_race import StatusOurs, StatusRace

pytestmark = pytest.mark.multiproc

BAD = ("kv_cache", 1)


def _told(words: ShippedStatus, *, fails: bool) -> tuple[object, ...]:
    """A clear in which rank 1 fails, or has not come to it; what its caller has in the end, and on a second try."""
    movers = [words.mover(0), words.mover(1, fails=fails)]
    asking = words.clear(polls=100)
    asking.run("asked")
    words.worker(0, words.weights).run()
    for _ in range(3):
        for actor in (*(movers if fails else movers[:1]), asking):
            actor.run()
    again = words.clear()
    again.run()
    return asking.result, again.result, (words.weights, words.kv, words.tree)


def shipped(words: ShippedStatus) -> str:
    failed = _told(words, fails=True)
    with ShippedStatus() as others:
        slow = _told(others, fails=False)
    return f"failed or slow, the caller has {failed}" if failed == slow else f"{failed} is not {slow}"


def ours(engine: StatusOurs) -> str:
    first = engine.ask("clear")
    engine.serve(first, fails=[BAD])
    told = [(report.component, report.part, report.reason) for report in first.value().failed]
    if told != [(*BAD, "on purpose")]:
        return f"of the failure it is told {told}"
    second = engine.ask("clear", timeout=0.5)
    late = engine.order(BAD)
    error = second.error()
    if not isinstance(error, CommTimeoutError) or "kv_cache" not in str(error):
        return f"of the slow rank it is told {error!r}"
    try:
        late.done()
    except StaleReportError:
        return engine.works()
    return "the late report counts"


RACE = StatusRace(("B54",), shipped, ours, "failed or slow, the caller has")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
