"""P3.4: a clear drops a task that one rank has taken meanwhile: that rank executes it alone."""

from tests.races.cache_race import CacheOurs, CacheRace, CacheShipped


def shipped(variant: CacheShipped) -> str:
    rank0, rank1 = variant.reader(0), variant.reader(1)
    executed: dict[int, list[str]] = {0: [], 1: []}

    def others_go_on(step: str) -> None:
        if step == "clear.poll":
            executed[1].append(rank1.get_transfer_task()[0])
        elif step == "clear.again":
            executed[0].append(rank0.get_transfer_task()[0])

    manager = variant.client(0, hook=others_go_on)
    manager.put_transfer_task("A")
    manager.put_transfer_task("B")
    executed[0].append(rank0.get_transfer_task()[0])
    manager.clear_transfer_task()
    while (task := rank1.get_transfer_task()[0]) is not None:
        executed[1].append(task)
    return "" if executed[0] == executed[1] else f"rank 0 executes {executed[0]} and rank 1 {executed[1]}"


def ours(variant: CacheOurs) -> str:
    manager, rank0, rank1 = variant.producer(), variant.reader(0), variant.reader(1)
    for task in "ABC":
        manager.put_transfer_task(task)
    executed = {0: [rank0.get_transfer_task()[0]], 1: [rank1.get_transfer_task()[0]]}
    executed[0].append(rank0.get_transfer_task()[0])
    taken = manager.clear_transfer_task()
    for rank, handle in enumerate((rank0, rank1)):
        while (task := handle.get_transfer_task()[0]) is not None:
            executed[rank].append(task)
    if taken != (0,):
        return f"the clear says that ranks {taken} have taken B"
    return "" if executed == {0: ["A", "B"], 1: ["A", "B"]} else f"the ranks execute {executed}"


RACE = CacheRace(("P3.4",), shipped, ours, "rank 0 executes ['A', 'B'] and rank 1 ['A']")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
