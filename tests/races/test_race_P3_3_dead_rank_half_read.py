"""P3.3: a rank is killed while its peer has read the task; the next put polls for ever."""

from fdcomm.errors import PeerLostError
from tests.races.cache_race import CacheRace, CacheVariant
from tests.races.shipped import Stuck


def scenario(variant: CacheVariant) -> str:
    manager, rank0, rank1 = variant.producer(), variant.reader(0), variant.reader(1)
    assert rank1.get_transfer_task() == (None, False)
    manager.put_transfer_task("A")
    assert rank0.get_transfer_task() == ("A", False)
    variant.lose(rank1)
    try:
        manager.put_transfer_task("B")
    except Stuck as error:
        return f"rank 1 is dead, and {error}"
    except PeerLostError as error:
        return "" if error.missing == (1,) else f"the error names ranks {error.missing} instead of 1"
    return "the put succeeds although rank 1 is dead"


RACE = CacheRace(("P3.3",), scenario, scenario, "rank 1 is dead, and put still polls")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
