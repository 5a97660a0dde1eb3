"""B08: a reset waits for tasks that are queued, and no paused rank will pull them."""

from tests.races.blocks_race import BlocksOurs, BlocksRace, name_of
from tests.races.shipped_blocks import ShippedCache


def shipped() -> str:
    cache = ShippedCache()
    cache.issue(1)
    cache.paused = True
    reset = cache.reset("queued")
    over = cache.finish_reset(reset)
    return "" if over else f"the reset waits for {next(reset)}, and task {cache.queue[0]} is queued"


def ours(variant: BlocksOurs) -> str:
    variant.port.pause()
    swap = variant.swap_in()
    variant.reset().value()
    told = name_of(lambda: swap.wait(0))
    if told != "TransferCancelledError":
        return f"who waits was told {told!r}"
    variant.port.pause(False)
    if variant.port.pull() is not None:
        return "what was withdrawn runs"
    return variant.problem() or ("" if variant.free() == 4 else f"{variant.free()} of 4 blocks are free")


RACE = BlocksRace(("B08",), shipped, ours, "the reset waits for tasks, and task 1 is queued")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
