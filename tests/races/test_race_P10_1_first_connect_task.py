"""P10.1, C05: read flags start at 0, so the first connect task waits until every rank has polled once."""

from tests.races.cache_race import CacheRace, CacheVariant
from tests.races.shipped import Stuck


def scenario(variant: CacheVariant) -> str:
    engine = variant.producer()
    try:
        engine.put_connect_rdma_task({"task_id": 1})
    except Stuck as error:
        return f"no rank has come, and the first {error}"
    got = [variant.reader(rank).get_connect_rdma_task() for rank in (0, 1)]
    wanted = [({"task_id": 1}, False), ({"task_id": 1}, True)]
    return "" if got == wanted else f"the ranks that come later get {got}"


RACE = CacheRace(("P10.1", "C05"), scenario, scenario, "no rank has come, and the first put still polls", kind="worker")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
