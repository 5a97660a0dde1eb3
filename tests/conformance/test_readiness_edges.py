"""Every edge of the readiness model through the core and the host's channel, and proof that a deviation shows."""

from __future__ import annotations

from typing import Any

import pytest

from fdcomm.core.readiness import Readiness as Core
from fdcomm.errors import ConfigError
from fdcomm.host import beats
from fdcomm.host.readiness_channel import ReadinessChannel
from models.readiness import Config, Readiness
from tests.conformance import readiness_faults as faults
from tests.conformance.readiness_core import Deviation, drive_core
from tests.conformance.readiness_moves import host_moves
from tests.conformance.readiness_plans import CORE, SERVICE
from tests.conformance.readiness_service import drive_service
from tests.conformance.walks import edges_of, states_within

EVERY_ACTION = set(Readiness().actions)
R = frozenset[int]
_ONE = R({0})

# The smallest configuration in which each fault shows; of most the first one.
_LIFE = Config(max_inc=2, mortal=_ONE, hangs=_ONE, failing=_ONE, reloading=_ONE, leavers=_ONE)
_PATIENT = Config(patience=R({1}), mortal=_ONE, failing=_ONE)
_ORDER = Config(components=2, needs=R({2}), askers=R({2}), masks=R({1}), mortal=R({1}))
PLANTED = {
    "one part is enough": Config(parts=2),
    "stuck ones count": Config(hangs=_ONE),
    "a stuck loop never recovers": Config(hangs=_ONE),
    "who waits for restarts gives up": _PATIENT,
    "anybody waits for anybody": _ORDER,
    "who is gone still waits": _ORDER,
}
PLANTED_SERVICE = (
    Config(max_inc=3, max_waits=0, mortal=_ONE),
    Config(max_inc=2, mortal=_ONE, hangs=_ONE, failing=_ONE, cuts=_ONE),
)


@pytest.mark.parametrize("plan", CORE)
def test_the_core_takes_every_edge(plan: str) -> None:
    coverage = drive_core(CORE[plan])
    assert coverage.edges == coverage.of > coverage.states
    assert coverage.refusals > coverage.states
    assert set(coverage.actions) == EVERY_ACTION


@pytest.mark.parametrize("plan", SERVICE)
def test_the_channel_takes_every_edge_that_a_host_can(plan: str) -> None:
    _, moves = host_moves(SERVICE[plan])
    possible = edges_of(moves)
    coverage = drive_service(SERVICE[plan])
    assert coverage.edges == len(possible)
    assert coverage.refusals > coverage.states
    assert plan != "1 part, 2 processes" or set(coverage.actions) == EVERY_ACTION


def test_what_a_host_cannot_take_starts_inside_one_of_its_critical_sections() -> None:
    graph, moves = host_moves(SERVICE["1 part, 2 processes"])
    possible = edges_of(moves)
    between = states_within(moves)
    left_out = [edge for edge in graph.edges if edge not in possible]
    assert left_out
    assert all(edge[0] in between or edge[0] not in moves or edge[1].name in _DUE for edge in left_out)


# Which of several that are due comes first, the host says.
_DUE = ("Stall", "Recover", "Complete", "GiveUp")


@pytest.mark.parametrize("fault", faults.CORE)
def test_a_fault_of_the_core_shows(fault: str) -> None:
    with pytest.raises(Deviation):
        drive_core(PLANTED.get(fault, _LIFE), faults.CORE[fault])


def _drive_planted_service() -> None:
    for config in PLANTED_SERVICE:
        drive_service(config)


@pytest.mark.parametrize("fault", faults.CHANNEL)
def test_a_fault_of_the_channel_shows(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    method, change = faults.CHANNEL[fault]
    monkeypatch.setattr(ReadinessChannel, method, change(getattr(ReadinessChannel, method)))
    with pytest.raises(Deviation):
        _drive_planted_service()


WRONG: list[list[Any]] = [
    [],
    [("a", 1, ()), ("a", 1, ())],
    [("a", 0, ())],
    [("a", 1, ("b",))],
    [("a", 1, ("a",))],
    [("a", 1, ("b",)), ("b", 1, ("c",)), ("c", 1, ("a",))],
]


@pytest.mark.parametrize("wrong", WRONG)
def test_what_makes_no_sense_is_refused(wrong: list[Any]) -> None:
    with pytest.raises(ConfigError):
        Core(wrong)


def test_a_launch_order_is_transitive() -> None:
    core = Core([("cache", 1, ()), ("worker", 1, ("cache",)), ("server", 1, ("worker",))])
    assert core.components["server"].needs == {"worker", "cache"}


# -- stamps ------------------------------------------------------------------------------------------------------------


def test_a_stamp_is_of_one_process() -> None:
    word = beats.stamp(3, 1000.5)
    assert beats.age_of(word, 3, 1002.0) == pytest.approx(1.5)
    assert [beats.age_of(word, inc, 1002.0) for inc in (1, 2, 4, 5)] == [None] * 4
    assert beats.age_of(0, 0, 1.0) is None
    assert beats.age_of(beats.stamp(1, 0.0), 1, 0.0) == 0.0  # in the first millisecond after the boot


def test_a_stamp_fits_into_a_signed_word_for_centuries() -> None:
    word = beats.stamp((1 << 20) - 1, 200 * 365.25 * 86400)
    assert 0 < word < 1 << 63
    assert beats.age_of(word, (1 << 20) - 1, 200 * 365.25 * 86400 + 5) == pytest.approx(5.0)


def test_two_processes_of_a_part_have_two_words() -> None:
    used = [beats.slot_of(number, inc) for number in range(4) for inc in (1, 2)]
    assert len(set(used)) == 8
    assert max(used) < beats.words_for(1)


@pytest.mark.parametrize(
    ("theirs", "alike"), [(None, False), (99.0, True), (100.0, True), (100.5, False), (1.0, False)]
)
def test_another_clock_is_told_from_ours(theirs: float | None, alike: bool) -> None:
    assert beats.same_clock(theirs, 100.0) is alike
