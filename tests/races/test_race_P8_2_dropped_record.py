"""P8.2: a reset drops the records of those who wait, and a wait ends in a KeyError."""

from tests.conformance.waiting import Background
from tests.races.blocks_race import BlocksOurs, BlocksRace, name_of
from tests.races.pipes import WATCHDOG_S
from tests.races.shipped_blocks import ShippedCache


def shipped() -> str:
    cache = ShippedCache()
    cache.issue(1)
    if cache.wait(1) != "waits":
        return "the wait was over at once"
    cache.paused = True
    if not cache.finish_reset(cache.reset()):
        return "the reset has waited"
    try:
        return f"the wait has ended: {cache.wait(1)}"
    except KeyError as error:
        return f"the wait ends with KeyError: {error}"


def ours(variant: BlocksOurs) -> str:
    swap = variant.swap_in()
    waiting = Background(lambda: swap.wait(WATCHDOG_S))
    variant.reset().value()
    error = type(waiting.error()).__name__
    again = name_of(lambda: swap.wait(0))
    if (error, again) != ("TransferCancelledError", "TransferCancelledError"):
        return f"who waits was told {error}, and then {again}"
    return variant.problem()


RACE = BlocksRace(("P8.2",), shipped, ours, "the wait ends with KeyError: 1")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
