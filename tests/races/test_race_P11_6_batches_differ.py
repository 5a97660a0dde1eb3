"""P11.6, B14: each rank sends what its own table knows at its own moment: the collective calls differ."""

from collections.abc import Sequence
from pathlib import Path

from tests.races.layerwise_race import LayerRace, OurMessager, compared
from tests.races.shipped_layerwise import ShippedMessager


def scenario(ranks: Sequence[ShippedMessager | OurMessager]) -> str:
    for number, rank in enumerate(ranks):
        rank.info("a", 0)
        if number == 0:
            rank.info("b", 1)
        rank.message((0, 1))
        for _ in range(2):
            rank.sender.run_once(0.0) if isinstance(rank, OurMessager) else rank.run(1)
    ranks[1].info("b", 1)
    for rank in ranks:
        if not rank.run(4):
            return f"a rank is not done after {rank.calls}"
    return compared([rank.calls for rank in ranks])


def shipped(folder: Path) -> str:
    return scenario([ShippedMessager("split") for _ in range(2)])


def ours(folder: Path) -> str:
    ranks = [OurMessager() for _ in range(2)]
    return scenario(ranks) or ("" if ranks[0].calls == [("a",), ("b",)] else f"the calls are {ranks[0].calls}")


RACE = LayerRace(
    ("P11.6", "B14"), shipped, ours, "the collective calls differ: [[('a', 'b')], [('a',), ('b',)]]", ranks=2
)


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
