"""B15: the first layer is computed before the task's cache info has come, and the task is never sent."""

from pathlib import Path

from tests.races.layerwise_race import LayerRace, OurMessager
from tests.races.shipped_layerwise import ShippedMessager


def scenario(rank: ShippedMessager | OurMessager) -> str:
    rank.message((3,))
    if isinstance(rank, OurMessager):
        rank.sender.run_once(0.0)
    else:
        rank.run(2)
    rank.info("a", 3)
    idle = rank.run(4)
    return "" if rank.calls == [("a",)] else f"the sender {'is idle' if idle else 'waits'}, and has sent {rank.calls}"


def shipped(folder: Path) -> str:
    return scenario(ShippedMessager("drop"))


def ours(folder: Path) -> str:
    return scenario(OurMessager())


RACE = LayerRace(("B15",), shipped, ours, "the sender is idle, and has sent []", ranks=1)


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
