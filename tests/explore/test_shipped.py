"""The shipped dispatch: right in a guarded environment, and every race found where its guard is missing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from models.dispatch_shipped import Config, DispatchShipped
from models.dispatch_shipped_races import RACES
from models.explore import explore

# Race -> states of a shortest counterexample, the first one included.
LENGTHS = {"P1.1": 18, "P1.2": 7, "P1.3": 14, "P1.4": 19, "P1.5": 17, "P1.8": 9, "P1.9": 44, "B02": 26}


@pytest.mark.parametrize(("ranks", "calls", "distinct", "depth"), [(1, 2, 64, 35), (2, 2, 192, 47), (3, 3, 1146, 88)])
def test_it_works_in_the_guarded_environment(ranks: int, calls: int, distinct: int, depth: int) -> None:
    result = explore(DispatchShipped(Config(ranks=ranks, max_calls=calls)))
    assert result.ok
    assert (result.distinct, result.depth) == (distinct, depth)


@pytest.mark.parametrize("race", RACES)
def test_the_race_is_found(race: str) -> None:
    violates = RACES[race].violates
    found = explore(DispatchShipped(RACES[race].config), only={violates}).violation
    assert found is not None
    assert len(found.path) + 1 == LENGTHS[race]


@pytest.mark.parametrize(
    ("race", "repair"),
    [
        ("P1.1", {"barrier": True}),
        ("P1.2", {"idle_gets": False}),
        ("P1.3", {"clearers": frozenset()}),
        ("P1.4", {"clearers": frozenset()}),
        ("P1.5", {"clearers": frozenset({0})}),
        ("P1.8", {"one_address": True}),
        ("P1.9", {"producers": 1}),
        ("B02", {"lower_inside": True}),
    ],
)
def test_the_race_needs_its_environment(race: str, repair: dict[str, object]) -> None:
    config = replace(RACES[race].config, **repair)  # type: ignore[arg-type]
    result = explore(DispatchShipped(config), only={RACES[race].violates})
    assert result.violation is None
    assert result.complete


def test_every_action_is_taken() -> None:
    config = Config(clearers=frozenset({0, 2}), max_clears=1, mortal=frozenset({1}), max_calls=2)
    assert set(explore(DispatchShipped(config), only=()).coverage) == set(DispatchShipped().actions)
