"""Everything that is claimed of the mailbox holds, each guard is needed, and the shipped steps have their races."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from models.explore import explore
from models.graph import build
from models.mailbox import Config, Guards, Mailbox, State
from models.mailbox_bugs import BUGS
from models.mailbox_properties import fairness, liveness
from models.mailbox_shipped import RACES, MailboxShipped
from models.mailbox_shipped import Config as ShippedConfig
from tests.explore.claims import broken, everything_holds, is_what_tlc_finds, shortest
from tests.explore.contract import guards_are_those, names_are_those, parameters_are_those, races_are_those
from tests.verify.configured import configured
from tla import manifest

_ALL: dict[str, Any] = {"mortal": frozenset({1}), "slow": True, "idle": True, "closes": True}

# Configuration -> distinct states and depth. A change of a number is a change of the protocol: review it.
COUNTS = {
    "1 request": (Config(**_ALL), 204, 9),
    "2 requests": (Config(requests=2, max_items=1, capacity=1, **_ALL), 1272, 12),
    "2 clients": (Config(clients=2, mortal=frozenset({2}), slow=True, closes=True), 282, 9),
}

# Guard -> what fails in the first states without it, and the length of a shortest counterexample.
FAILS: dict[str, dict[str, int]] = {
    "OneSender": {"InOrderOnce": 4, "EndedStays": 5, "FinishedIsOver": 5},
    "FirstOwner": {"OneClient": 6},
    "Mandatory": {"NothingToTheGone": 5},
    "Bounds": {"Bounded": 2},
    "EndedRefused": {"EndedStays": 4, "FinishedIsOver": 4},
    "FlushEnds": {"FinishedIsOver": 4},
    "TellsUnsent": {"NothingVanishes": 5},
}


@pytest.mark.parametrize("name", COUNTS)
def test_everything_holds(name: str) -> None:
    config, distinct, depth = COUNTS[name]
    assert everything_holds(Mailbox(config), distinct, depth).unreached == ()


def test_the_model_has_the_contract_names() -> None:
    names_are_those("mailbox", Mailbox(), State._fields, liveness(Config(idle=True)), Config().constants())


def test_actions_carry_the_contract_parameters() -> None:
    parameters_are_those("mailbox", build(Mailbox(COUNTS["1 request"][0])).edges)


def test_every_guard_of_the_contract_can_be_taken_away() -> None:
    guards_are_those("mailbox", Guards, BUGS)
    assert set(FAILS) == {name for name, bug in BUGS.items() if not bug.liveness}


@pytest.mark.parametrize("guard", FAILS)
def test_without_the_guard_its_property_fails(guard: str) -> None:
    assert shortest(Mailbox(BUGS[guard].config)) == FAILS[guard]


def _broken(config: Config) -> set[str]:
    return broken(Mailbox(config), liveness(config), fairness(config))


@pytest.mark.parametrize("guard", [name for name, bug in BUGS.items() if bug.liveness])
def test_without_its_guard_it_does_not_go_on(guard: str) -> None:
    assert BUGS[guard].violates in _broken(BUGS[guard].config)


@pytest.mark.parametrize("guard", BUGS)
def test_with_the_guard_the_same_configuration_is_right(guard: str) -> None:
    config = replace(BUGS[guard].config, idle=True, guards=Guards())
    assert explore(Mailbox(config)).violation is None
    assert _broken(config) == set()


# -- the shipped steps ---------------------------------------------------------------------------------------------


def test_the_shipped_steps_work_in_a_guarded_environment() -> None:
    found = explore(MailboxShipped())
    assert (found.distinct, found.violation, found.unreached) == (15, None, ())


@pytest.mark.parametrize("race", RACES)
def test_the_race_is_found_and_needs_its_environment(race: str) -> None:
    config, violates = RACES[race].config, RACES[race].violates
    assert violates in explore(MailboxShipped(config), stop=False).violations
    guarded: dict[str, Any] = {"mailbox-look-append": {"handle_comes": "first"}, "B75": {"dies": False}}
    repair = guarded.get(race, {"capacity": ShippedConfig().max_items})
    assert explore(MailboxShipped(replace(config, **repair)), stop=False).violations == {}


# -- what TLC is pinned to find ------------------------------------------------------------------------------------

_ENTRIES = [entry for entry in manifest.find("mailbox") if entry.mode == "check" and entry.distinct < 3000]


@pytest.mark.parametrize("entry", _ENTRIES, ids=lambda entry: str(entry.name))
def test_counts_are_those_of_tlc(entry: manifest.Entry) -> None:
    is_what_tlc_finds(configured(entry), entry)


def test_the_race_configurations_agree_with_the_contract() -> None:
    races_are_those("mailbox", "MCMailbox")
