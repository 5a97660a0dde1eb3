"""The actions of status have one name everywhere: contract, specification, core, host, page."""

from __future__ import annotations

import re
from typing import get_args

from fdcomm.core.status import Status, Step
from fdcomm.host import status_channel
from tests.explore.contract import contract
from tests.tidy.sources import ROOT
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
    text = (ROOT / SPEC["tla"]).read_text()
    (body,) = re.findall(r"^Next ==\n(.*?)\n\n", text, re.MULTILINE | re.DOTALL)
    assert set(re.findall(r"\b([A-Z]\w+)(?:\(| |$)", re.sub(r"\\E [^:]* :", "", body), re.MULTILINE)) == set(ACTIONS)
    (constants,) = re.findall(r"^CONSTANTS ((?:[A-Z]\w+(?:, )?)+)$", text, re.MULTILINE)
    assert constants.split(", ") == [guard["constant"] for guard in SPEC["guard"]]


def test_methods_of_the_core() -> None:
    methods = {str(action["method"]).partition("(")[0]: name for name, action in SEEN.items()}
    public = {name for name, value in vars(Status).items() if not name.startswith("_") and callable(value)}
    assert public == set(methods) | OTHERS
    for method, action in methods.items():
        assert re.sub(r"(?<!^)([A-Z])", r"_\1", action).lower() == method
        assert re.match(rf"{action}[:.] ", str(getattr(Status, method).__doc__))


def test_events_of_the_host() -> None:
    with open(status_channel.__file__, encoding="utf-8") as source:
        text = source.read()
    recorded = set(re.findall(r'_record\("(\w+)"', text))
    assert recorded | set(get_args(Step)) == EVENTS == {"Declare", *SEEN}


def test_the_page_has_every_action_and_variable() -> None:
    page = (ROOT / "docs" / "protocols" / "status.md").read_text()
    assert [name for name in ACTIONS if f"`{name}`" not in page] == []
    assert [variable["name"] for variable in SPEC["variable"] if f"`{variable['name']}`" not in page] == []
    assert [guard["race"] for guard in SPEC["guard"] if not re.search(rf"\b{re.escape(guard['race'])}\b", page)] == []
