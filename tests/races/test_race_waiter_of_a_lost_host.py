"""waiter-of-a-lost-host: the queue's host ends, the receiver tries again for ever, and nobody tells who waits."""

from fdcomm.errors import HostLostError
from tests.conformance.waiting import Background
from tests.races.blocks_race import BlocksOurs, BlocksRace, name_of
from tests.races.pipes import WATCHDOG_S
from tests.races.shipped_blocks import ShippedCache


def shipped() -> str:
    cache = ShippedCache()
    cache.issue(1)
    cache.pull()
    cache.running.clear()  # the manager process and its lists are gone, and pop raises from now on
    return f"who waits {cache.wait(1)}" if cache.status == "normal" else ""


def ours(variant: BlocksOurs) -> str:
    swap = variant.swap_in()
    waiting = Background(lambda: swap.wait(WATCHDOG_S))
    variant.port.lose(HostLostError("the host has ended"))
    told = [
        type(waiting.error()).__name__,
        name_of(variant.swap_in),
        name_of(lambda: variant.client.reset(timeout=1.0)),
    ]
    return variant.problem() if set(told) == {"HostLostError"} else f"who waits, issues and resets was told {told}"


RACE = BlocksRace(("waiter-of-a-lost-host",), shipped, ours, "who waits waits")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
