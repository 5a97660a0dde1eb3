"""B16: one task's cache info is lost, and every task behind it waits for ever."""

from pathlib import Path

from tests.races.layerwise_race import LayerRace, OurMessager
from tests.races.shipped_layerwise import ShippedMessager


def scenario(rank: ShippedMessager | OurMessager) -> str:
    for slot in (3, 4):
        rank.message((slot,))
    rank.info("b", 4)
    idle = rank.run(50)
    return "" if idle and rank.calls == [("b",)] else f"after 50 turns {rank.calls} is sent, and the thread waits"


def shipped(folder: Path) -> str:
    return scenario(ShippedMessager("wait"))


def ours(folder: Path) -> str:
    rank = OurMessager()
    wrong = scenario(rank)
    if wrong or rank.failed != {"slot 3": "CacheInfoMissingError"}:
        return wrong or f"of the missing info was told {rank.failed}"
    # Should the info come after all, the task is finished in its turn, and stays failed.
    rank.info("a", 3)
    rank.run(2)
    return "" if rank.failed.get("a") == "CacheInfoMissingError" else f"the late task ended with {rank.failed}"


RACE = LayerRace(("B16",), shipped, ours, "after 50 turns [] is sent, and the thread waits", ranks=1)


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
