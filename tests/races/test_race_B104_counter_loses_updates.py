"""B104: an addition to a manager's value is a read and a write, and two clients at once lose one of them.

The shipped client counts itself with the lock held, so there it is the lock that must never be forgotten. Ours has
no counter that clients write: the host counts its sessions.
"""

from tests.races.race import Race
from tests.races.variants import Ours, Shipped


def shipped(variant: Shipped) -> str:
    first = variant.client(0)
    second = variant.client(1)
    before = first.clients()

    def both_have_read(step: str) -> None:
        if step == "count.write":
            first.hook = lambda step: None
            second.count_in()

    first.hook = both_have_read
    first.count_in()
    added = first.clients() - before
    return "" if added == 2 else f"two clients count themselves without the lock: {added} more"


def ours(variant: Ours) -> str:
    engine = variant.engine()
    before = engine.statistics().sessions
    readers = [variant.reader(0), variant.reader(1)]
    added = engine.statistics().sessions - before
    if added != 2:
        return f"two clients connect: {added} more"
    for reader in readers:
        reader.close()
    left = engine.statistics().sessions - before
    return "" if left == 0 else f"two clients have left, and {left} still count"


RACE = Race(("B104",), shipped, ours, "without the lock: 1 more")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
