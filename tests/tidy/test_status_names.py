"""The actions of status have one name everywhere: contract, specification, core, host, page."""

from __future__ import annotations

import re
from typing import get_args

from fdcomm.core.status import Status, Step
from fdcomm.host import status_channel
from tests.explore.contract import contract
from tests.tidy.names import absent, absent_races, constants_of_one_line, methods_are_those, next_actions, page_of
from tests.traces.status_runs import EVENTS

SPEC = contract("status")
ACTIONS = {action["name"]: action for action in SPEC["action"]}
SEEN = {name: action for name, action in ACTIONS.items() if not action.get("environment")}

# Public methods of the core that are not actions: reads, and the choice of what is due.
OTHERS = {"missing", "component", "advance"}


def test_the_environment_has_no_method() -> None:
    assert set(ACTIONS) - set(SEEN) == {"Crash"}
    assert all(("method" in action) == (name in SEEN) for name, action in ACTIONS.items())


def test_actions_of_the_specification() -> None:
    assert next_actions(SPEC) == set(ACTIONS)
    assert constants_of_one_line(SPEC) == [guard["constant"] for guard in SPEC["guard"]]


def test_methods_of_the_core() -> None:
    methods_are_those(Status, SEEN, OTHERS)


def test_events_of_the_host() -> None:
    with open(status_channel.__file__, encoding="utf-8") as source:
        text = source.read()
    recorded = set(re.findall(r'_record\("(\w+)"', text))
    assert recorded | set(get_args(Step)) == EVENTS == {"Declare", *SEEN}


def test_the_page_has_every_action_and_variable() -> None:
    page = page_of("status")
    assert absent(page, SPEC["action"]) == []
    assert absent(page, SPEC["variable"]) == []
    assert absent_races(page, SPEC["guard"]) == []
