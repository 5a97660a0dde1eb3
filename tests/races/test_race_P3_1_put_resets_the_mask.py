"""P3.1, C01: a put waits for a half read task without the lock, and then sets the bits of another one to 0."""

from tests.races.cache_race import CacheOurs, CacheRace, CacheShipped


def shipped(variant: CacheShipped) -> str:
    rank0, rank1 = variant.reader(0), variant.reader(1)
    executed = []

    def others_go_on(step: str) -> None:
        if step == "put.poll":  # the bits of A are 01
            assert rank1.get_transfer_task() == ("A", True)
        elif step == "put.again":  # A is gone; now the bits are those of B
            executed.append(rank0.get_transfer_task()[0])

    manager = variant.client(0, hook=others_go_on)
    manager.put_transfer_task("A")
    manager.put_transfer_task("B")
    executed.append(rank0.get_transfer_task()[0])
    manager.put_transfer_task("C")
    executed.append(rank0.get_transfer_task()[0])
    return "" if executed == ["A", "B", "C"] else f"rank 0 executes {executed}"


def ours(variant: CacheOurs) -> str:
    manager, rank0, rank1 = variant.producer(), variant.reader(0), variant.reader(1)
    manager.put_transfer_task("A")
    manager.put_transfer_task("B")
    executed = [rank0.get_transfer_task()]
    executed += [rank1.get_transfer_task(), rank0.get_transfer_task()]
    manager.put_transfer_task("C")  # while B is half read
    executed += [rank0.get_transfer_task(), rank0.get_transfer_task(), *(rank1.get_transfer_task() for _ in "BC")]
    wanted = [("A", False), ("A", True), ("B", False), ("C", False), (None, False), ("B", True), ("C", True)]
    return "" if executed == wanted else f"the ranks execute {executed}"


RACE = CacheRace(("P3.1", "C01"), shipped, ours, "rank 0 executes ['A', 'B', 'B']")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
