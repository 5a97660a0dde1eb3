"""Every edge of the model of layer-wise sending through the table, and proof that a deviation shows."""

from __future__ import annotations

import pytest

from fdcomm.core.layerwise import NOTHING, STEPS, ProgressTable, is_later, is_past, pack, signed, unpack
from fdcomm.errors import ConfigError
from models.layerwise import Config, Layerwise
from tests.conformance import layerwise_faults
from tests.conformance.layerwise_core import Deviation, drive_core
from tests.conformance.layerwise_plans import CORE

EVERY_ACTION = set(Layerwise().actions)


@pytest.mark.parametrize("plan", CORE)
def test_the_table_takes_every_edge(plan: str) -> None:
    coverage = drive_core(CORE[plan])
    assert coverage.edges > coverage.states > 100
    assert coverage.refusals > coverage.states
    assert set(coverage.actions) == EVERY_ACTION


# The configuration in which a fault shows; most show where one slot is used twice.
PLANS = {
    "HeadOfLine": Config(slots=2, layers=1),
    "FirstReadyFirst": Config(slots=2, layers=1),
    "OneTooMany": Config(tasks=3, layers=1),
}


@pytest.mark.parametrize("fault", layerwise_faults.CORE)
def test_a_fault_of_the_table_shows(fault: str) -> None:
    with pytest.raises(Deviation):
        drive_core(PLANS.get(fault, CORE["1 slot, used twice"]), layerwise_faults.CORE[fault])


@pytest.mark.parametrize("plan", PLANS)
def test_without_a_fault_nothing_shows(plan: str) -> None:
    assert drive_core(PLANS[plan]).edges > 50


@pytest.mark.parametrize("slot", [-1, 2])
def test_a_slot_out_of_range_is_refused(slot: int) -> None:
    table = ProgressTable(2, 3)
    for call in (
        lambda: table.on_progress(slot, 0, 0),
        lambda: table.on_cache_info("a", slot, 0),
        lambda: table.on_end(slot, 0, ValueError()),
        lambda: table.expire_early(slot, ValueError()),
    ):
        with pytest.raises(ConfigError):
            call()


@pytest.mark.parametrize("layer", [-1, 3])
def test_a_layer_out_of_range_is_refused(layer: int) -> None:
    with pytest.raises(ConfigError):
        ProgressTable(2, 3).on_progress(0, 0, layer)


@pytest.mark.parametrize("sizes", [(0, 1, 1, 1), (1, 0, 1, 1), (1, 1, 0, 1), (1, 1, 1, 0)])
def test_a_table_of_no_size_is_refused(sizes: tuple[int, int, int, int]) -> None:
    with pytest.raises(ConfigError):
        ProgressTable(*sizes)


def test_ends_without_infos_are_forgotten_in_the_end() -> None:
    table = ProgressTable(1, 1, max_gone=2)
    for step in range(5):
        assert table.on_end(0, step, ValueError())
    assert list(table.slots[0].gone) == [3, 4]
    taken = [table.on_cache_info(step, 0, step) for step in range(5)]
    assert [task is not None and task.error is not None for task in taken] == [False, False, False, True, True]


# -- the pair as words ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [0, 1, 2**31 - 1, 2**31, 2**32 - 1])
@pytest.mark.parametrize("layer", [0, 1, 60, 2**31 - 1])
def test_a_pair_is_one_word(step: int, layer: int) -> None:
    word = pack(step, layer)
    assert word != -1
    assert -(2**63) <= word < 2**63
    assert unpack(word) == (step, layer)
    assert signed(step) % STEPS == step
    assert -(2**31) <= signed(step) < 2**31


def test_no_report_is_nothing() -> None:
    assert unpack(-1) == NOTHING
    assert not is_past(NOTHING, NOTHING)
    assert is_past((0, 0), NOTHING)
    assert not is_past(NOTHING, (0, 0))


@pytest.mark.parametrize("start", [0, 2**31 - 2, 2**32 - 2])
def test_steps_wrap(start: int) -> None:
    steps = [(start + n) % STEPS for n in range(4)]
    for n, step in enumerate(steps):
        for m, other in enumerate(steps):
            assert is_later(step, other) == (n > m)
            assert is_past((step, 0), (other, 5)) == (n > m)
    assert is_past((start, 6), (start, 5))
    assert not is_past((start, 5), (start, 5))
    assert not is_later(start, (start + 2**31) % STEPS), "half of all steps apart is neither later nor earlier"
