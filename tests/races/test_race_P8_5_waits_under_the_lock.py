"""P8.5: an issue waits for room in the queue with the lock of scheduling, and scheduling stops."""

import threading

from tests.races.blocks_race import BlocksOurs, BlocksRace, name_of
from tests.races.shipped_blocks import ShippedCache


def shipped() -> str:
    cache = ShippedCache(2)
    cache.full = True
    cache.issue(1)
    return "" if cache.schedule() == "scheduled" else f"scheduling is {cache.schedule()}"


def ours(variant: BlocksOurs) -> str:
    variant.port.capacity = 0
    lock = threading.Lock()
    with lock:
        told = name_of(variant.swap_in)
    if told != "CommTimeoutError" or lock.locked():
        return f"the issue was told {told!r}"
    found = variant.lists.statistics()
    return variant.problem() if found.leased == 2 else f"{found.leased} blocks came back"


RACE = BlocksRace(("P8.5",), shipped, ours, "scheduling is blocked")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
