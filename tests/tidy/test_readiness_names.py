"""The actions of readiness have one name everywhere: contract, specification, core, host, page."""

from __future__ import annotations

import inspect
import re
from typing import get_args

from fdcomm.core.readiness import Readiness, Step
from fdcomm.host import readiness_channel, readiness_loops
from tests.explore.contract import contract
from tests.tidy.sources import ROOT
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
    text = (ROOT / SPEC["tla"]).read_text()
    (body,) = re.findall(r"^Next ==\n(.*?)\n\n", text, re.MULTILINE | re.DOTALL)
    found = re.findall(r"\b([A-Z]\w+)\(", re.sub(r"\\E [^:]* :", "", body))
    assert set(found) == set(ACTIONS)
    (constants,) = re.findall(r"^CONSTANTS ((?:[A-Z]\w+(?:, )?)+)$", text, re.MULTILINE)
    assert constants.split(", ") == [guard["constant"] for guard in SPEC["guard"]]


def test_methods_of_the_core() -> None:
    methods = {str(action["method"]).partition("(")[0]: name for name, action in SEEN.items()}
    public = {name for name, value in vars(Readiness).items() if not name.startswith("_") and callable(value)}
    assert public == set(methods) | OTHERS
    for method, action in methods.items():
        assert re.sub(r"(?<!^)([A-Z])", r"_\1", action).lower() == method
        assert re.match(rf"{action}[:.] ", str(getattr(Readiness, method).__doc__))


def test_events_of_the_host() -> None:
    text = "".join(map(inspect.getsource, (readiness_channel, readiness_loops)))
    recorded = set(re.findall(r'_record\((?:"(\w+)" if lost else )?"(\w+)"', text))
    names = {name for pair in recorded for name in pair if name}
    assert names | set(get_args(Step)) == EVENTS == {"Declare", *SEEN}


def test_the_page_has_every_action_and_variable() -> None:
    page = (ROOT / "docs" / "protocols" / "readiness.md").read_text()
    assert [name for name in ACTIONS if f"`{name}`" not in page] == []
    assert [variable["name"] for variable in SPEC["variable"] if f"`{variable['name']}`" not in page] == []
    assert [guard["race"] for guard in SPEC["guard"] if not re.search(rf"\b{re.escape(guard['race'])}\b", page)] == []
