"""rejoin: a restarted rank is given a batch that the others have started without it.

What the others began is over or stuck by then: rank 1 runs the batch alone. Ours leaves it out, and the next batch is
for all again. A batch that nobody has started is still given to the restarted rank.
"""

import pytest

from tests.races.race import Race, wait_until
from tests.races.variants import Ours, Shipped

pytestmark = pytest.mark.multiproc


def shipped(variant: Shipped) -> str:
    engine, rank0, rank1 = variant.engine(), variant.reader(0), variant.child(1)
    engine.put_tasks("A")
    started, _ = rank0.get_tasks()
    rank1.kill()
    restarted, _ = variant.reader(1).get_tasks()
    return f"rank 0 has started {started} alone, and rank 1 is given {restarted}" if restarted else ""


def ours(variant: Ours) -> str:
    engine, rank0, rank1, rank2 = variant.engine(), variant.reader(0), variant.child(1), variant.reader(2)
    engine.put_tasks("A")
    started, _ = rank0.get_tasks()
    rank1.kill()
    wait_until("the host has noticed", lambda: engine.statistics().lost == (1,))
    second = variant.child(1)
    restarted, _ = second.call("get_tasks")
    if restarted:
        return f"rank 0 has started {started} alone, and rank 1 is given {restarted}"
    if rank2.get_tasks() != (["A"], True):
        return "rank 2, which never died, misses the batch"
    engine.put_tasks("B")
    second.kill()
    wait_until("the host has noticed again", lambda: engine.statistics().lost == (1,))
    got = [reader.get_tasks()[0] for reader in (variant.reader(1), rank0, rank2)]
    return "" if got == [["B"]] * 3 else f"nobody had started B, and after the restart the ranks read {got}"


RACE = Race(("rejoin",), shipped, ours, "rank 1 is given ['A']", ranks=3)


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
