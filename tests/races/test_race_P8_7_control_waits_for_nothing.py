"""P8.7: the reset of a control request waits for nothing, and a block that the ranks still move is free twice."""

from tests.races.blocks_race import BlocksRace, reset_waits_for_the_task
from tests.races.shipped_blocks import ShippedCache


def shipped() -> str:
    cache = ShippedCache()
    cache.issue(1)
    cache.pull()
    if not cache.finish_reset(cache.reset("control")):
        return "the reset has waited"
    stray = [task for task in cache.running if task in cache.free]
    cache.finish()
    cache.handle(cache.pop())
    return f"blocks {stray} were moved while they were free, and the free list is {cache.free}"


RACE = BlocksRace(("P8.7",), shipped, reset_waits_for_the_task, "and the free list is [1, 1]")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
