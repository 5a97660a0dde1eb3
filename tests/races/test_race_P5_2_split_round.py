"""P5.2, P3.6: a clear between rank 0's look and the reads splits a round of the transfer loop.

In a round, rank 0 looks whether there is a task and says so to the others; all meet at a barrier, and each reads
because rank 0 had said so. The manager clears after the look and puts another task between the two reads: one rank
executes it and goes to the barrier for that, the other has nothing and goes to another barrier.

Ours: rank 0 hands on the ticket of the task that it saw, and each rank takes that task or nothing.
"""

from tests.races.cache_race import CacheOurs, CacheRace, CacheShipped


def shipped(variant: CacheShipped) -> str:
    manager, rank0, rank1 = variant.producer(), variant.reader(0), variant.reader(1)
    manager.put_transfer_task("OLD")
    said = not rank0.empty()
    assert said  # ... and the barrier
    manager.clear_transfer_task()
    first = rank0.get_transfer_task()[0] if said else None
    manager.put_transfer_task("NEW")
    second = rank1.get_transfer_task()[0] if said else None
    return "" if first == second else f"in one round rank 0 executes {first} and rank 1 {second}"


def ours(variant: CacheOurs) -> str:
    manager, rank0, rank1 = variant.producer(), variant.reader(0), variant.reader(1)
    manager.put_transfer_task("OLD")
    ticket = rank0.transfer_ticket()
    assert ticket  # ... and the barrier
    manager.clear_transfer_task()
    first = rank0.get_transfer_task(ticket=ticket)[0]
    manager.put_transfer_task("NEW")
    second = rank1.get_transfer_task(ticket=ticket)[0]
    if (first, second) != (None, None):
        return f"in one round rank 0 executes {first} and rank 1 {second}"
    manager.put_transfer_task("NEWER")
    ticket = rank0.transfer_ticket()
    first = rank0.get_transfer_task(ticket=ticket)[0]
    taken = manager.clear_transfer_task()  # too late for NEW, in time for NEWER
    got = [first, rank1.get_transfer_task(ticket=ticket)[0]]
    if got != ["NEW", "NEW"] or taken != (0,):
        return f"in the next round the ranks execute {got}, and the clear says that {taken} have begun"
    return "" if rank0.transfer_ticket() == 0 and rank1.transfer_ticket() == 0 else "a cleared task has a ticket"


RACE = CacheRace(("P5.2", "P3.6"), shipped, ours, "in one round rank 0 executes None and rank 1 NEW")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
