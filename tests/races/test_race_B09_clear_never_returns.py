"""B09: a clear waits without a bound for a half read task, whose other rank is dead or has paused."""

from tests.races.cache_race import CacheRace, CacheVariant
from tests.races.shipped import Stuck


def scenario(variant: CacheVariant) -> str:
    manager, rank0, rank1 = variant.producer(), variant.reader(0), variant.reader(1)
    assert rank1.get_transfer_task() == (None, False)
    manager.put_transfer_task("A")
    assert rank0.get_transfer_task() == ("A", False)
    variant.lose(rank1)
    try:
        taken = manager.clear_transfer_task()
    except Stuck as error:
        return f"rank 1 is dead, and {error}"
    return "" if taken == (0,) else f"the clear names ranks {taken} as those that have taken the head"


RACE = CacheRace(("B09",), scenario, scenario, "rank 1 is dead, and clear still polls")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
