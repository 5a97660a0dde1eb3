"""P8.1: a reset sees no result, because the receiver has taken it and not handled it, and a block is free twice."""

from tests.races.blocks_race import BlocksOurs, BlocksRace
from tests.races.shipped_blocks import ShippedCache


def shipped() -> str:
    cache = ShippedCache()
    cache.issue(1)
    cache.pull()
    cache.finish()
    result = cache.pop()
    if not cache.finish_reset(cache.reset()):
        return "the reset has waited"
    cache.handle(result)
    return "" if cache.free == [1] else f"the free list is {cache.free}"


def ours(variant: BlocksOurs) -> str:
    variant.go_on.clear()
    variant.swap_in()
    variant.port.serve(1)
    variant.in_hand.wait()
    resetting = variant.reset()
    if variant.lists.generation or not resetting.is_running():
        return "the reset is over, and a result is in the receiver's hand"
    variant.go_on.set()
    resetting.value()
    return variant.problem() or ("" if variant.free() == 4 else f"{variant.free()} of 4 blocks are free")


RACE = BlocksRace(("P8.1",), shipped, ours, "the free list is [1, 1]")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
