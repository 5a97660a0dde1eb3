"""P8.8: a result that comes once more is added to what was made of the others."""

from fdcomm.transfer_port import TransferResult
from tests.races.blocks_race import BlocksOurs, BlocksRace
from tests.races.pipes import WATCHDOG_S
from tests.races.shipped_blocks import ShippedStorage


def shipped() -> str:
    storage = ShippedStorage(ranks=2)
    for blocks in ([4, 5, 6], [4, 5], [4, 5, 6]):
        storage.result(7, list(blocks))
    return "" if storage.blocks[7] == [4, 5] else f"the blocks are {storage.blocks[7]}"


def ours(variant: BlocksOurs) -> str:
    swap = variant.client.issue("read", "storage", variant.lists.allocate())
    variant.port.pull()
    variant.port.finish(1, value=[[4, 5], [4]])
    value = swap.wait(WATCHDOG_S).value
    variant.port.handed.clear()  # this port would not do it
    variant.port.post(TransferResult(1, "ok", [[4, 5]], None, ()))
    other = variant.swap_in()
    variant.port.serve(1)
    other.wait(WATCHDOG_S)
    if swap.wait(0).value != [[4, 5], [4]] or value != [[4, 5], [4]]:
        return f"the blocks are {swap.wait(0).value}"
    unknown = variant.client.statistics().unknown
    return variant.problem() if unknown == 1 else f"{unknown} results were of no task"


RACE = BlocksRace(("P8.8",), shipped, ours, "the blocks are [4, 5, [4, 5, 6]]", ranks=2)


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
