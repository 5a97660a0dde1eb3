"""Everything that is claimed of the link holds, and each guard is needed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from models.explore import explore
from models.graph import build
from models.link import Config, Guards, Link, State
from models.link_bugs import BUGS
from models.link_properties import fairness, liveness
from models.link_state import mask, numbers
from tests.explore.claims import broken, counterexample_is_as_long, counts_are_those, everything_holds
from tests.explore.contract import guards_are_those, names_are_those, parameters_are_those, races_are_those
from tests.verify.configured import configured
from tla import manifest

_ALL: dict[str, Any] = {
    "may_fence": True,
    "impatient": True,
    "client_mortal": True,
    "host_mortal": True,
    "closes": True,
}

# Configuration -> distinct states and depth. A change of a number is a change of the protocol: review it.
COUNTS = {
    "2 calls, everything": (Config(calls=2, max_losses=1, **_ALL), 4308, 22),
    "2 calls at once": (Config(calls=2, window=2), 79, 15),
}

# Guard -> what fails in the first states without it, and the length of a shortest counterexample.
FAILS: dict[str, dict[str, int]] = {
    "Dedups": {"AtMostOnce": 6},
    "StaleRefused": {"AtMostOnce": 9},
    "Acknowledges": {"Bounded": 6},
    "EndedRemembered": {"EndedStays": 5},
    "StopsAtFence": {"NothingAfterTheEnd": 4},
}


@pytest.mark.parametrize("name", COUNTS)
def test_everything_holds(name: str) -> None:
    config, distinct, depth = COUNTS[name]
    assert everything_holds(Link(config), distinct, depth).unreached == ()


def test_the_model_has_the_contract_names() -> None:
    names_are_those("link", Link(), State._fields, liveness(Config()), Config().constants())


def test_actions_carry_the_contract_parameters() -> None:
    parameters_are_those("link", build(Link(COUNTS["2 calls, everything"][0])).edges)


def test_every_guard_of_the_contract_can_be_taken_away() -> None:
    guards_are_those("link", Guards, BUGS)
    assert set(FAILS) == {name for name, bug in BUGS.items() if not bug.liveness}


@pytest.mark.parametrize("guard", FAILS)
def test_without_the_guard_its_property_fails(guard: str) -> None:
    for name, length in FAILS[guard].items():  # a call that runs again and again has no end of states
        found = explore(Link(BUGS[guard].config), only={name}).violation
        assert found is not None
        assert len(found.path) == length


def _broken(config: Config) -> set[str]:
    return broken(Link(config), liveness(config), fairness(config))


@pytest.mark.parametrize("guard", [name for name, bug in BUGS.items() if bug.liveness])
def test_without_its_guard_it_does_not_go_on(guard: str) -> None:
    assert BUGS[guard].violates in _broken(BUGS[guard].config)


@pytest.mark.parametrize("guard", BUGS)
def test_with_the_guard_the_same_configuration_is_right(guard: str) -> None:
    config = replace(BUGS[guard].config, guards=Guards())
    assert explore(Link(config)).violation is None
    assert _broken(config) == set()


def test_open_calls_are_one_number() -> None:
    for calls in (frozenset[int](), frozenset({1}), frozenset({2, 5})):
        assert numbers(mask(calls)) == calls


# -- what TLC is pinned to find ------------------------------------------------------------------------------------

_ENTRIES = [entry for entry in manifest.find("link") if entry.mode == "check" and entry.distinct < 3000]


@pytest.mark.parametrize("entry", _ENTRIES, ids=lambda entry: str(entry.name))
def test_counts_are_those_of_tlc(entry: manifest.Entry) -> None:
    model = configured(entry)
    if entry.expect == "violates":
        counterexample_is_as_long(model, entry)
        return
    counts_are_those(model, entry)


def test_the_race_configurations_agree_with_the_contract() -> None:
    races_are_those("link", "MCLink")
