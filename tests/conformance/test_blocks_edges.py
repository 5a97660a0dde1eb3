"""Every edge of the blocks model through the core, and proof that a deviation shows."""

from __future__ import annotations

import pytest

from fdcomm.core.blocks import Blocks as Core
from fdcomm.errors import ConfigError
from models.blocks import Blocks, Config
from tests.conformance import blocks_faults
from tests.conformance.blocks_core import Deviation, drive_core
from tests.conformance.blocks_plans import CORE

EVERY_ACTION = set(Blocks().actions)


def test_the_core_takes_every_edge() -> None:
    coverage = drive_core(CORE["1 task, 1 reset"])
    assert coverage.edges == coverage.of > coverage.states > 2000
    assert coverage.refusals > 3 * coverage.states
    assert set(coverage.actions) == EVERY_ACTION


# A small configuration in which a fault shows, where that is not the first one.
SMALL = Config(refuses=True, cancels=True, mortal=True)
LATE = Config(max_gen=0, mortal=True, overruns=True)
PLANS = {
    "FreesSource": Config(host=0, in_place=True, max_gen=0),
    "HighestFirst": Config(device=2, host=0, max_tasks=0),
    "StaleFrees": Config(host=0, max_tasks=0),
    **dict.fromkeys(("FreesWithTheResult", "KeepsSource", "SettlesAnything", "SettlesAfterTheEnd"), LATE),
    "RebuildsOverLate": Config(overruns=True),
}


@pytest.mark.parametrize("fault", blocks_faults.CORE)
def test_a_fault_of_the_core_shows(fault: str) -> None:
    with pytest.raises(Deviation):
        drive_core(PLANS.get(fault, SMALL), blocks_faults.CORE[fault])


@pytest.mark.parametrize("plan", PLANS)
def test_without_a_fault_nothing_shows(plan: str) -> None:
    assert drive_core(PLANS[plan]).edges > 5


@pytest.mark.parametrize("sizes", [(-1, 1), (1, -1)])
def test_lists_of_no_size_are_refused(sizes: tuple[int, int]) -> None:
    with pytest.raises(ConfigError):
        Core(*sizes)


@pytest.mark.parametrize(("kind", "n"), [(2, 1), (-1, 1), (0, 0)])
def test_what_cannot_be_allocated_is_refused(kind: int, n: int) -> None:
    with pytest.raises(ConfigError):
        Core(4, 4).allocate(kind, n)
