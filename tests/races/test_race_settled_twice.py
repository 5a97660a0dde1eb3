"""settled-twice: a block that a late task had is somebody's since, and the task is said to have settled once more."""

from fdcomm.transfer_port import TransferSettled
from tests.conformance.waiting import until
from tests.races.blocks_race import BlocksOurs, BlocksRace


class PlainLists:
    """A free list of numbers, and what late tasks had; it is free whenever they are said to have settled."""

    def __init__(self) -> None:
        self.free: list[int] = []
        self.late = {1: [2]}

    def settle(self, number: int) -> None:
        """No rank is at the task."""
        self.free += self.late[number]


def shipped() -> str:
    lists = PlainLists()
    lists.settle(1)
    first = lists.free.pop()
    lists.settle(1)
    return f"block {first} has two owners" if lists.free.pop() == first else ""


def ours(variant: BlocksOurs) -> str:
    late = variant.swap_in()
    number = variant.port.pull()
    if number is None:
        return "the ranks have no task"
    variant.port.overrun(number)
    until(late.done)
    before = variant.free()
    variant.port.quiet(number)
    until(lambda: variant.free() == before + 1)
    lists = variant.lists
    mine = [lists.allocate(1, "host"), *(lists.allocate() for _ in range(2))]
    variant.port.post(TransferSettled(number))
    variant.port.post(TransferSettled(99))
    until(lambda: variant.client.statistics().unknown == 2)
    if variant.free() or variant.client.statistics().settled != 1:
        return f"{variant.free()} blocks are free, and somebody has all"
    for lease in mine:
        lists.free(lease)
    return variant.problem()


RACE = BlocksRace(("settled-twice",), shipped, ours, "block 2 has two owners")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
