"""P8.3: a result that cannot be handled ends the receiver, and every later swap hangs."""

from typing import Any

from fdcomm.transfer_port import TransferResult
from tests.races.blocks_race import BlocksOurs, BlocksRace, name_of
from tests.races.pipes import WATCHDOG_S
from tests.races.shipped_blocks import ShippedCache


def shipped() -> str:
    cache = ShippedCache(2)
    for task in (1, 2):
        cache.issue(task)
        cache.pull()
        cache.finish()
        cache.handle(cache.pop(), bad=task == 1)
    return f"the second wait {cache.wait(2)}"


def ours(variant: BlocksOurs) -> str:
    bad, good = variant.swap_in(), variant.swap_in()
    variant.port.pull()
    outcome: Any = "done"
    variant.port.post("nonsense")
    variant.port.post(TransferResult(1, outcome, None, None, ()))
    variant.port.serve(1)
    told = name_of(lambda: bad.wait(WATCHDOG_S)), name_of(lambda: good.wait(WATCHDOG_S))
    return variant.problem() if told == ("TransferFailedError", "") else f"who waits was told {told}"


RACE = BlocksRace(("P8.3",), shipped, ours, "the second wait waits")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
