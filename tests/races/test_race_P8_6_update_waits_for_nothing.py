"""P8.6: the reset before an update waits for nothing, and the lists are new while the ranks still move their blocks."""

from tests.races.blocks_race import BlocksOurs, BlocksRace
from tests.races.shipped_blocks import ShippedCache


def shipped() -> str:
    cache = ShippedCache()
    cache.issue(1)
    cache.pull()
    if not cache.finish_reset(cache.reset("updating")):
        return "the reset has waited"
    stray = [task for task in cache.running if task in cache.free]
    return f"the ranks move blocks {stray}, which are free" if stray else ""


def ours(variant: BlocksOurs) -> str:
    variant.swap_in()
    number = variant.port.pull()
    resetting = variant.reset()
    if number is None or not resetting.is_running() or variant.lists.generation:
        return "the reset is over, and a task runs"
    variant.port.finish(number)
    resetting.value()
    return variant.problem() or ("" if variant.free() == 4 else f"{variant.free()} of 4 blocks are free")


RACE = BlocksRace(("P8.6",), shipped, ours, "the ranks move blocks [1], which are free")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
