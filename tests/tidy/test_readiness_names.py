"""The actions of readiness have one name everywhere: contract, specification, core, host, page."""

from __future__ import annotations

import inspect
import re
from typing import get_args

from fdcomm.core.readiness import Readiness, Step
from fdcomm.host import readiness_channel, readiness_loops
from tests.explore.contract import contract
from tests.tidy.names import absent, absent_races, constants_of_one_line, methods_are_those, next_calls, page_of
from tests.traces.readiness_runs import EVENTS

SPEC = contract("readiness")
ACTIONS = {action["name"]: action for action in SPEC["action"]}
SEEN = {name: action for name, action in ACTIONS.items() if not action.get("environment")}

# Public methods of the core that are not actions: reads, a check, and the choice of what is due.
OTHERS = {"part", "awaited", "check_order", "advance"}


def test_the_environment_has_no_method() -> None:
    assert set(ACTIONS) - set(SEEN) == {"Crash", "Cut", "LateWord", "Age", "Beat", "GhostBeat"}
    assert all(("method" in action) == (name in SEEN) for name, action in ACTIONS.items())


def test_actions_of_the_specification() -> None:
    assert next_calls(SPEC) == set(ACTIONS)
    assert constants_of_one_line(SPEC) == [guard["constant"] for guard in SPEC["guard"]]


def test_methods_of_the_core() -> None:
    methods_are_those(Readiness, SEEN, OTHERS)


def test_events_of_the_host() -> None:
    text = "".join(map(inspect.getsource, (readiness_channel, readiness_loops)))
    recorded = set(re.findall(r'_record\((?:"(\w+)" if lost else )?"(\w+)"', text))
    names = {name for pair in recorded for name in pair if name}
    assert names | set(get_args(Step)) == EVENTS == {"Declare", *SEEN}


def test_the_page_has_every_action_and_variable() -> None:
    page = page_of("readiness")
    assert absent(page, SPEC["action"]) == []
    assert absent(page, SPEC["variable"]) == []
    assert absent_races(page, SPEC["guard"]) == []
