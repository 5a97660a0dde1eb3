"""The actions of control have one name everywhere: contract, specification, core, host, page; its example runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fdcomm.core.control import Control
from fdcomm.host.control_channel import _ENDS
from tests.explore.contract import contract
from tests.tidy.names import (
    absent,
    constants_of_one_line,
    next_actions,
    page_of,
    public_methods,
    recorded_in_the_host,
    run_of_the_page,
    said_on_the_page,
    snake,
)

SPEC = contract("control")
ACTIONS = {action["name"]: action for action in SPEC["action"]}
SEEN = {name: action for name, action in ACTIONS.items() if not action.get("environment")}
PAGE = page_of("control")

# Public methods of the core that are not actions: pure reads.
READS = {"awaited"}


def test_the_environment_has_no_method() -> None:
    assert set(ACTIONS) - set(SEEN) == {"Crash"}
    assert all(("method" in action) == (name in SEEN) for name, action in ACTIONS.items())


def test_actions_of_the_specification() -> None:
    assert next_actions(SPEC) == set(ACTIONS)
    assert set(constants_of_one_line(SPEC)) == {guard["constant"] for guard in SPEC["guard"]}


def test_methods_of_the_core() -> None:
    methods = {name: str(action["method"]).partition("(")[0] for name, action in SEEN.items()}
    assert public_methods(Control) == set(methods.values()) | READS
    for action, method in methods.items():
        assert re.search(rf"\b{action}[:.] ", str(getattr(Control, method).__doc__)), action
        assert method == ("answer" if action == "RefuseLate" else snake(action))


def test_events_of_the_host() -> None:
    recorded = recorded_in_the_host("control_channel", "members")
    assert recorded | set(_ENDS.values()) == set(SEEN)


def test_the_page_has_every_action() -> None:
    assert absent(PAGE, SPEC["action"]) == []
    assert absent(PAGE, SPEC["variable"]) == []


@pytest.mark.multiproc
def test_the_program_of_the_page_prints_what_it_says(tmp_path: Path) -> None:
    assert run_of_the_page(PAGE, tmp_path / "control.py") == (0, "", said_on_the_page(PAGE))
