"""P8.4: who waits gives up during a reset, and its task runs afterwards, on a block that is somebody else's."""

from tests.races.blocks_race import BlocksOurs, BlocksRace
from tests.races.shipped_blocks import ShippedCache


def shipped() -> str:
    cache = ShippedCache()
    cache.issue(1)
    cache.paused = True
    reset = cache.reset()
    next(reset)
    if cache.wait(1) != "left":
        return "the wait goes on"
    cache.finish_reset(reset)
    cache.paused = False
    cache.pull()
    stray = [task for task in cache.running if task in cache.free]
    return f"the ranks move blocks {stray}, which are free" if stray else ""


def ours(variant: BlocksOurs) -> str:
    running = variant.swap_in()
    number = variant.port.pull()
    variant.swap_in()
    variant.port.pause()
    if number is None or not running.cancel() or variant.free():
        return f"{variant.free()} blocks are free, and a rank moves them"
    resetting = variant.reset()
    if variant.lists.statistics().in_flight < 2:
        return "blocks are free during the reset, and a rank moves them"
    variant.port.finish(number)
    resetting.value()
    variant.port.pause(False)
    if variant.port.pull() is not None:
        return "a task of before the reset runs"
    return variant.problem() or ("" if variant.free() == 4 else f"{variant.free()} of 4 blocks are free")


RACE = BlocksRace(("P8.4",), shipped, ours, "the ranks move blocks [1], which are free")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
