"""B50: the owner of memory frees it, and it is the other process that waits."""

import pytest

from fdcomm.errors import CommTimeoutError
from tests.races.shipped_status import Actor, Program, ShippedStatus
from tests.races.status_race import StatusOurs, StatusRace

pytestmark = pytest.mark.multiproc

DECLARED = (("mapped", 0, 2), ("owned", 1, 1))
OWNER = ("owned", 0)


class Memory:
    """Who has it: written anew from the description of the steps."""

    def __init__(self) -> None:
        self.there = True
        self.mapped = True
        self.used_after_free = False

    def release(self, *, owns: bool) -> Program:
        """The condition is negated: who has to wait does not."""
        if owns:
            self.used_after_free = self.mapped
            self.there = False
            yield "freed"
            return 0
        while self.there:
            yield "wait for the owner"
        self.mapped = False
        return 0


def shipped(words: ShippedStatus) -> str:
    del words
    memory = Memory()
    other = Actor(memory.release(owns=False))
    other.run()
    Actor(memory.release(owns=True)).run()
    return "the memory is freed while another process has it mapped" if memory.used_after_free else ""


def ours(engine: StatusOurs) -> str:
    """Roles are components of different stages: who maps comes before who owns, and after it in an update."""
    clear = engine.ask("clear")
    mapped = [engine.order(("mapped", part)) for part in range(2)]
    for order in mapped:
        if engine.parts[OWNER].take() is not None:
            return "the owner is asked to free what is mapped"
        order.done()
    engine.order(OWNER).done()
    if not clear.value().ok:
        return f"the clear ends with {clear.value()}"
    update = engine.ask("update")
    owner = engine.order(OWNER)
    if engine.parts["mapped", 0].take() is not None:
        return "a part is asked to map what is not there"
    owner.done()
    engine.serve(update)
    if not update.value().ok:
        return f"the update ends with {update.value()}"
    # One branch does nothing: nobody frees, and the caller is told who is missing.
    again = engine.ask("clear", timeout=1.0)
    engine.serve(again, without=[("mapped", 1)])
    error = again.error()
    if not isinstance(error, CommTimeoutError) or "mapped: part 1" not in str(error):
        return f"the clear of one branch ends with {error!r}"
    return "the owner has freed it" if engine.words() != [-1, 0] else ""


RACE = StatusRace(("B50",), shipped, ours, "while another process has it mapped", declared=DECLARED)


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
