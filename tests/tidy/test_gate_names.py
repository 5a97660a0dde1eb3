"""The gate's actions have one name everywhere: contract, specification, core, host, page."""

from __future__ import annotations

import re

from fdcomm.core.gate import Gate
from tests.explore.contract import contract
from tests.tidy.names import absent, constants_of_one_line, methods_are_those, page_of, recorded_in_the_host
from tests.tidy.sources import ROOT

SPEC = contract("gate")
ACTIONS = {action["name"]: action for action in SPEC["action"]}
SEEN = {name: action for name, action in ACTIONS.items() if not action.get("environment")}

# Public methods of the core that are not actions: pure reads.
READS = {"pending", "missing"}


def test_the_environment_has_no_method() -> None:
    assert set(ACTIONS) - set(SEEN) == {"Issue", "Skip", "Crash"}
    assert all(("method" in action) == (name in SEEN) for name, action in ACTIONS.items())


def test_actions_of_the_specification() -> None:
    text = (ROOT / SPEC["tla"]).read_text()
    (body,) = re.findall(r"^Next ==\n(.*?)\n\n", text, re.MULTILINE | re.DOTALL)
    assert set(re.findall(r"\b([A-Z]\w+)(?:\(| |$)", re.sub(r"\\E [^:]* :", "", body))) == set(ACTIONS)
    assert set(constants_of_one_line(SPEC)) == {guard["constant"] for guard in SPEC["guard"]}


def test_methods_of_the_core() -> None:
    methods_are_those(Gate, SEEN, READS)


def test_events_of_the_host() -> None:
    assert recorded_in_the_host("gate_channel", "members") == set(SEEN)


def test_the_page_has_every_action() -> None:
    page = page_of("gate")
    assert absent(page, SPEC["action"]) == []
    assert absent(page, SPEC["variable"]) == []
