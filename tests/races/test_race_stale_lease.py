"""stale-lease: who had a block before a reset frees it afterwards, and it is somebody else's."""

from tests.races.blocks_race import BlocksOurs, BlocksRace, name_of
from tests.races.shipped_blocks import ShippedCache


def shipped() -> str:
    cache = ShippedCache()
    cache.finish_reset(cache.reset())
    somebody = cache.free.pop()
    cache.free.append(1)  # who had block 1 before the reset gives it back
    return f"block {somebody} is in use, and the free list is {cache.free}" if somebody in cache.free else ""


def ours(variant: BlocksOurs) -> str:
    old = variant.lists.allocate()
    variant.reset().value()
    new = variant.lists.allocate()
    told = name_of(lambda: variant.lists.free(old))
    if told != "StaleLeaseError" or variant.lists.recycle(old):
        return f"who had blocks {old.ids} was told {told!r}"
    if not variant.lists.is_current(new):
        return f"blocks {new.ids} are nobody's"
    return variant.problem()


RACE = BlocksRace(("stale-lease",), shipped, ours, "block 1 is in use, and the free list is [1]")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
