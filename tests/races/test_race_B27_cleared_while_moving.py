"""B27: a clear takes the memory away while the ranks have tasks, and they move what is not there any more."""

from tests.races.blocks_race import BlocksOurs, BlocksRace
from tests.races.shipped_blocks import ShippedCache


def shipped() -> str:
    cache = ShippedCache()
    memory = {1: "a block"}
    cache.issue(1)
    cache.pull()
    memory.clear()  # there is no pause, and nothing is waited for
    return "" if memory.get(cache.running[0]) else f"task {cache.running[0]} runs, and its memory is gone"


def ours(variant: BlocksOurs) -> str:
    memory = {1: "a block"}
    cleared: list[int] = []
    variant.swap_in()
    queued = variant.swap_in()
    number = variant.port.pull()

    def clear() -> None:
        cleared.append(variant.lists.statistics().in_flight)
        memory.clear()

    resetting = variant.reset(during=clear)
    if number is None or not memory:
        return "the memory is gone, and a task runs"
    variant.port.finish(number)
    resetting.value()
    if cleared != [0] or queued.lease is not None:
        return f"cleared with {cleared} blocks in flight; who waits has {queued.lease}"
    return variant.problem() if variant.port.pull() is None else "a task runs after the clear"


RACE = BlocksRace(("B27",), shipped, ours, "task 1 runs, and its memory is gone")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
