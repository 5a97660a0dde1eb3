"""P10.2: a rank that asks again before the others have read is given the same connect task again."""

from tests.races.cache_race import CacheRace, CacheVariant


def scenario(variant: CacheVariant) -> str:
    engine, ranks = variant.producer(), [variant.reader(0), variant.reader(1)]
    for rank in ranks:
        rank.get_connect_rdma_task()  # as shipped, nothing can be put before
    engine.put_connect_rdma_task("connect 1")
    first, second = ranks[0].get_connect_rdma_task(), ranks[0].get_connect_rdma_task()
    assert first == ("connect 1", False)
    return "" if second == (None, False) else f"rank 0 is given {second[0]!r} a second time"


RACE = CacheRace(("P10.2",), scenario, scenario, "rank 0 is given 'connect 1' a second time", kind="worker")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
