"""issue-over-reset: a task is in no table yet while a reset looks, and is queued when the blocks are free."""

from tests.conformance.waiting import Background, until
from tests.races.blocks_race import BlocksOurs, BlocksRace
from tests.races.shipped_blocks import ShippedCache


def shipped() -> str:
    cache = ShippedCache()
    cache.full = True
    cache.issue(1)  # waits for room; nothing is queued
    if not cache.finish_reset(cache.reset()):
        return "the reset has waited"
    cache.go_on(1)
    cache.pull()
    stray = [task for task in cache.running if task in cache.free]
    return f"the ranks move blocks {stray}, which are free" if stray else ""


def ours(variant: BlocksOurs) -> str:
    variant.port.pause()
    gate: list[Background] = []

    def accepted() -> None:
        """The host has the task, and the call has not returned: a reset begins."""
        gate.append(variant.reset())
        until(lambda: not variant.port.queued)

    variant.accepted = accepted
    swap = variant.swap_in()
    gate[0].value()
    variant.port.pause(False)
    if variant.port.pull() is not None:
        return "what was issued before the reset runs after it"
    if swap.lease is not None:
        return "who issued the task has blocks of before the reset"
    return variant.problem() or ("" if variant.free() == 4 else f"{variant.free()} of 4 blocks are free")


RACE = BlocksRace(("issue-over-reset",), shipped, ours, "the ranks move blocks [1], which are free")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
