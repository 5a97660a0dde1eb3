"""late-write-into-freed-target: a transfer has failed, its target is somebody's, and a rank writes to it."""

from dataclasses import replace
from typing import Any

from fdcomm.blocks import Lease
from tests.conformance.waiting import until
from tests.races.blocks_race import BlocksOurs, BlocksRace

SIZE = 16
FOREIGN, MINE = b"\xee" * SIZE, b"\x11" * SIZE


class Memory:
    """The bytes of blocks, and who has them."""

    def __init__(self, variant: BlocksOurs) -> None:
        self.variant = variant
        self.bytes = [bytes(SIZE) for _ in range(4)]
        self.mine: list[Lease] = []

    def write(self, blocks: tuple[int, ...], pattern: bytes) -> None:
        """What a rank does, or an owner."""
        for block in blocks:
            self.bytes[block] = pattern

    def take_all(self) -> None:
        """Somebody allocates every block that is free, and fills it."""
        for kind in ("device", "host"):
            while self.variant.lists.can_allocate(1, kind):
                self.mine.append(self.variant.lists.allocate(1, kind))
                self.write(self.mine[-1].ids, MINE)

    def spoiled(self) -> list[int]:
        """Return the blocks of which somebody has a lease, and which somebody else has written to."""
        return [block for lease in self.mine for block in lease.ids if self.bytes[block] != MINE]


def _outcome(variant: BlocksOurs) -> str:
    """A handler runs over its limit, somebody takes all that is free, and the handler goes on."""
    memory = Memory(variant)
    source, target = variant.lists.allocate(), variant.lists.allocate(1, "host")
    swap = variant.client.issue("task", "swap", source, target)
    number = variant.port.pull()
    if number is None:
        return "the ranks have no task"
    variant.port.overrun(number)
    until(swap.done)
    if swap.lease is not source:
        return "the source is not its issuer's again"
    memory.take_all()
    memory.write(target.ids, FOREIGN)
    if memory.spoiled():
        return f"a rank has written to blocks {memory.spoiled()}, which somebody has"
    resetting = variant.reset()
    if not resetting.is_running() or variant.lists.generation:
        return "a reset is over, and a rank writes"
    memory.write(target.ids, FOREIGN)
    variant.port.quiet(number)
    if resetting.value() != 1 or variant.free() != 4:
        return f"{variant.free()} of 4 blocks are free after the reset"
    return variant.problem()


def shipped() -> str:
    """Lists that do not look who is at a task when its result comes, as they were until results said so."""
    with BlocksOurs() as variant:
        handle = variant.client._receiver.handle

        def believing(result: Any) -> None:
            handle(replace(result, running=()))

        variant.client._receiver.handle = believing  # type: ignore[method-assign]
        return _outcome(variant)


def ours(variant: BlocksOurs) -> str:
    return _outcome(variant)


RACE = BlocksRace(
    ("late-write-into-freed-target",), shipped, ours, "a rank has written to blocks [2], which somebody has"
)


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
