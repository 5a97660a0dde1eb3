"""Rearrange's actions have one name everywhere: contract, specification, core, host, page."""

from __future__ import annotations

import re

from fdcomm.core.rearrange import Rearrange
from tests.explore.contract import contract
from tests.tidy.names import absent, constants_of_one_line, methods_are_those, next_actions, page_of
from tests.tidy.sources import ROOT

SPEC = contract("rearrange")
ACTIONS = {action["name"]: action for action in SPEC["action"]}
SEEN = {name: action for name, action in ACTIONS.items() if not action.get("environment")}

# Public methods of the core that are not actions: pure reads.
READS = {"exchanging", "lacking", "name_of"}


def test_the_environment_has_no_method() -> None:
    assert set(ACTIONS) - set(SEEN) == {"Crash"}
    assert all(("method" in action) == (name in SEEN) for name, action in ACTIONS.items())


def test_actions_of_the_specification() -> None:
    assert next_actions(SPEC) == set(ACTIONS)
    assert set(constants_of_one_line(SPEC)) == {guard["constant"] for guard in SPEC["guard"]}


def test_methods_of_the_core() -> None:
    methods_are_those(Rearrange, SEEN, READS)


def test_events_of_the_host() -> None:
    recorded: set[str] = set()
    for file in ("rearrange_channel", "rearrange_parties"):
        text = (ROOT / "fdcomm" / "host" / f"{file}.py").read_text(encoding="utf-8")
        for first, second in re.findall(r'_changed\(\s*"(\w+)"(?: if [^,]+? else "(\w+)")?', text):
            recorded |= {first, second} - {""}
    assert recorded == set(SEEN) - {"RefuseReport"}


def test_the_page_has_every_action() -> None:
    page = page_of("rearrange")
    assert absent(page, SPEC["action"]) == []
    assert absent(page, SPEC["variable"]) == []
