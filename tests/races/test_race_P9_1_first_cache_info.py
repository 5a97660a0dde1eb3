"""P9.1, C05: read flags start at 0, so the first put of cache infos waits until every rank has polled once."""

from tests.races.cache_race import CacheRace, CacheVariant
from tests.races.shipped import Stuck


def scenario(variant: CacheVariant) -> str:
    engine = variant.producer()
    try:
        engine.put_cache_info([{"request_id": 1}])
    except Stuck as error:
        return f"no rank has come, and the first {error}"
    got = [variant.reader(rank).get_cache_info() for rank in (0, 1)]
    return "" if got == [[{"request_id": 1}]] * 2 else f"the ranks that come later get {got}"


RACE = CacheRace(("P9.1", "C05"), scenario, scenario, "no rank has come, and the first put still polls", kind="worker")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
