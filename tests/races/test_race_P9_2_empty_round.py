"""P9.2: an empty list of cache infos is a round that delivers nothing and holds the next put back."""

from tests.races.cache_race import CacheOurs, CacheRace, CacheShipped
from tests.races.shipped import Stuck


def shipped(variant: CacheShipped) -> str:
    engine, ranks = variant.producer(), [variant.reader(0), variant.reader(1)]
    for rank in ranks:
        rank.get_cache_info()
    engine.put_cache_info([])
    try:
        engine.put_cache_info(["info"])
    except Stuck as error:
        return f"there is nothing to read, and {error}"
    return ""


def ours(variant: CacheOurs) -> str:
    engine, ranks = variant.producer(), [variant.reader(0), variant.reader(1)]
    for number in (1, 2):
        engine.put_cache_info([])
        engine.put_cache_info([f"info {number}"], timeout=0.0)
        if engine.num_cache_infos() != 1:
            return f"{engine.num_cache_infos()} infos are retained instead of 1"
        got = [rank.get_cache_info() for rank in ranks]
        if got != [[f"info {number}"]] * 2:
            return f"the ranks get {got}"
    return ""


RACE = CacheRace(("P9.2",), shipped, ours, "there is nothing to read, and put still polls", kind="worker")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
