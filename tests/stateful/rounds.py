"""Rounds of a machine: what must occur, or must be noticed, gets several fixed seeds before it counts as missing.

Hypothesis draws numbers that it finds in the modules imported so far, too. So examples with a fixed seed are the same
only where the same modules are imported, and any single run may miss what is rare. A disagreement is never tried
again: what a round raises ends the rounds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextvars import ContextVar

from hypothesis import settings

__all__ = ("ROUND_SEED", "run_rounds", "unseen")

Run = Callable[[settings], Counter[str]]

ROUND_SEED: ContextVar[int | None] = ContextVar("ROUND_SEED", default=None)
"""The seed of the round that takes place; None outside of rounds. ``run_machine`` gives it to the machine."""

_SEEDS = range(1, 6)


def unseen(run: Run, options: settings, wanted: Collection[str], least: int = 1) -> set[str]:
    """Run rounds until all that is wanted has occurred often enough; return what has not after the last round.

    Args:
        run: Runs a machine, and returns how often each thing occurred. The counts of the rounds are added up.
        options: Settings of every round.
        wanted: What has to occur.
        least: How often.
    """
    occurred: Counter[str] = Counter()
    missing = set(wanted)
    for counts in _rounds(run, options):
        occurred.update(counts)
        missing = {name for name in wanted if occurred[name] < least}
        if not missing:
            break
    return missing


def run_rounds(run: Run, options: settings) -> None:
    """Run every round. With a planted fault, the first one that notices it raises."""
    for _ in _rounds(run, options):
        pass


def _rounds(run: Run, options: settings) -> Iterator[Counter[str]]:
    for number in _SEEDS:
        token = ROUND_SEED.set(number)
        try:
            counts = run(options)
        finally:
            ROUND_SEED.reset(token)
        yield counts
