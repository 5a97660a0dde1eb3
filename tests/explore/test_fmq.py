"""Everything that is claimed of the FMQ queue holds, each guard is needed, and the shipped steps have their races."""

from __future__ import annotations

from dataclasses import replace

import pytest

from models.explore import explore
from models.fmq import Config, Fmq, Guards, State
from models.fmq_bugs import BUGS
from models.fmq_properties import fairness, liveness
from models.fmq_shipped import RACES, FmqShipped
from models.fmq_shipped import Config as ShippedConfig
from models.graph import build
from tests.explore.claims import broken, everything_holds, is_what_tlc_finds
from tests.explore.contract import guards_are_those, names_are_those, parameters_are_those, races_are_those
from tests.verify.configured import configured
from tla import manifest

_ONE = frozenset({1})

# Configuration -> distinct states and depth. A change of a number is a change of the protocol: review it.
COUNTS = {
    "1 message": (Config(max_sent=1, window=1, large=_ONE), 338, 18),
    "2 messages": (Config(), 2258, 25),
    "2 messages that are not kept": (Config(keep=False), 1337, 18),
    "2 producers": (Config(producers=2, max_sent=1, window=1, large=_ONE, max_cuts=0), 1223, 26),
}


@pytest.mark.parametrize("name", COUNTS)
def test_everything_holds(name: str) -> None:
    config, distinct, depth = COUNTS[name]
    assert everything_holds(Fmq(config), distinct, depth).unreached == ()


def test_the_model_has_the_contract_names() -> None:
    names_are_those("fmq", Fmq(), State._fields, liveness(Config()), Config().constants())


def test_actions_carry_the_contract_parameters() -> None:
    parameters_are_those("fmq", build(Fmq(COUNTS["1 message"][0])).edges)


def test_every_guard_of_the_contract_can_be_taken_away() -> None:
    guards_are_those("fmq", Guards, BUGS)


def _fails(config: Config, name: str) -> bool:
    if name in liveness(config):
        return bool(broken(Fmq(config), {name: liveness(config)[name]}, fairness(config)))
    return explore(Fmq(config), only={name}).violation is not None


@pytest.mark.parametrize("guard", BUGS)
def test_each_guard_is_needed(guard: str) -> None:
    bug = BUGS[guard]
    assert _fails(bug.config, bug.violates)
    assert not _fails(replace(bug.config, guards=Guards()), bug.violates)


def test_the_shipped_steps_work_in_a_guarded_environment() -> None:
    assert everything_holds(FmqShipped(), 7, 6).unreached == ()


@pytest.mark.parametrize("race", RACES)
def test_the_race_is_found(race: str) -> None:
    one = RACES[race]
    assert one.violates in explore(FmqShipped(one.config), stop=False).violations
    assert explore(FmqShipped(ShippedConfig())).violation is None


_ENTRIES = [entry for entry in manifest.find("fmq") if entry.mode == "check"]


@pytest.mark.parametrize("entry", _ENTRIES, ids=lambda entry: str(entry.name))
def test_counts_are_those_of_tlc(entry: manifest.Entry) -> None:
    is_what_tlc_finds(configured(entry), entry)


def test_the_race_configurations_agree_with_the_contract() -> None:
    races_are_those("fmq", "MCFmq")
