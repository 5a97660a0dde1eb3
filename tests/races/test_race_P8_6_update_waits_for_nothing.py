"""P8.6: the reset before an update waits for nothing, and the lists are new while the ranks still move their blocks."""

from tests.races.blocks_race import BlocksRace, reset_waits_for_the_task
from tests.races.shipped_blocks import ShippedCache


def shipped() -> str:
    cache = ShippedCache()
    cache.issue(1)
    cache.pull()
    if not cache.finish_reset(cache.reset("updating")):
        return "the reset has waited"
    stray = [task for task in cache.running if task in cache.free]
    return f"the ranks move blocks {stray}, which are free" if stray else ""


RACE = BlocksRace(("P8.6",), shipped, reset_waits_for_the_task, "the ranks move blocks [1], which are free")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
