"""Rounds end when everything has occurred, add up what was counted, and try no failure again."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from tests.stateful.beside import run_machine
from tests.stateful.rounds import ROUND_SEED, run_rounds, unseen

FIXED = settings(settings.get_profile("ci"), stateful_step_count=10, max_examples=5)


class _Drawing(RuleBasedStateMachine):
    occurred: Counter[str]

    @rule(number=st.integers(0, 10**9))
    def draw(self, number: int) -> None:
        self.occurred[str(number)] += 1


class _Run:
    """Counts its rounds, and by the second one something rare; raises in round ``wrong``."""

    def __init__(self, wrong: int = 0) -> None:
        self.wrong = wrong
        self.seeds: list[int | None] = []

    def __call__(self, options: settings) -> Counter[str]:
        self.seeds.append(ROUND_SEED.get())
        assert len(self.seeds) != self.wrong, "the model and the code do not agree"
        return Counter(common=1, rare=len(self.seeds) // 2)


@pytest.mark.parametrize(("wanted", "least", "rounds"), [("common", 1, 1), ("rare", 1, 2), ("common", 3, 3)])
def test_the_first_round_after_which_all_has_occurred_is_the_last(wanted: str, least: int, rounds: int) -> None:
    run = _Run()
    assert unseen(run, FIXED, {wanted}, least) == set()
    assert len(run.seeds) == rounds


def test_what_never_occurs_is_told_after_five_rounds_with_different_seeds() -> None:
    run = _Run()
    assert unseen(run, FIXED, {"common", "never"}) == {"never"}
    assert len(set(run.seeds)) == len(run.seeds) == 5
    assert None not in run.seeds


@pytest.mark.parametrize("wrong", [1, 2, 5])
def test_a_failure_is_not_tried_again(wrong: int) -> None:
    run = _Run(wrong)
    with pytest.raises(AssertionError, match="do not agree"):
        unseen(run, FIXED, {"never"})
    assert len(run.seeds) == wrong
    assert ROUND_SEED.get() is None


def test_a_fault_has_five_rounds_to_be_noticed_in() -> None:
    late, never = _Run(5), _Run()
    with pytest.raises(AssertionError, match="do not agree"):
        run_rounds(late, FIXED)
    run_rounds(never, FIXED)
    assert len(late.seeds) == len(never.seeds) == 5


def test_every_round_has_examples_of_its_own_and_the_same_ones_again() -> None:
    first, second = _drawn(), _drawn()
    assert first == second
    assert len(first) == 5
    assert all(one != other for place, one in enumerate(first) for other in first[:place])


def _drawn() -> list[Counter[str]]:
    """Return what the machine draws in each round."""
    drawn: list[Counter[str]] = []

    def run(options: settings) -> Counter[str]:
        class Machine(_Drawing):
            pass

        drawn.append(run_machine(Machine, options))
        return drawn[-1]

    run_rounds(run, FIXED)
    return drawn
