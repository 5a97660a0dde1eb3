"""The actions of the mailbox have one name everywhere; the example of its page runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fdcomm.core.mailbox import Mailbox
from fdcomm.mailbox.results import MAILBOX_EVENTS
from tests.explore.contract import contract
from tests.tidy.names import (
    absent,
    absent_races,
    constants_in_lines,
    next_actions,
    page_of,
    public_methods,
    run_of_the_page,
    said_on_the_page,
)
from tests.tidy.sources import ROOT

SPEC = contract("mailbox")
ACTIONS = {action["name"]: action for action in SPEC["action"]}
SEEN = {name: action for name, action in ACTIONS.items() if not action.get("environment")}
PAGE = page_of("mailbox")

# Public methods of the core that are not actions: reads.
READS = {"stage", "owner", "has_room"}


def test_the_environment_has_no_method() -> None:
    assert set(ACTIONS) - set(SEEN) == {"Die", "Notice"}
    assert all(("method" in action) == (name in SEEN) for name, action in ACTIONS.items())


def test_actions_of_the_specification() -> None:
    assert next_actions(SPEC) == set(ACTIONS)
    assert constants_in_lines(SPEC) == [guard["constant"] for guard in SPEC["guard"]]


def test_methods_of_the_core() -> None:
    methods = {name: str(action["method"]).partition("(")[0] for name, action in SEEN.items()}
    assert public_methods(Mailbox) == set(methods.values()) | READS
    for action, method in methods.items():
        assert re.search(rf"\b{action}[:.] ?", str(getattr(Mailbox, method).__doc__)), action
        assert method == action.lower()


def test_events_of_the_server() -> None:
    text = (ROOT / "fdcomm" / "mailbox" / "results.py").read_text(encoding="utf-8")
    recorded = set(re.findall(r'_record\("([A-Z]\w+)"', text)) | set(
        re.findall(r'name = "(\w+)" if .* else "(\w+)"', text)[0]
    )
    assert recorded == set(SEEN) == set(MAILBOX_EVENTS)


def test_the_page_has_every_action_and_variable() -> None:
    assert absent(PAGE, SPEC["action"]) == []
    assert absent(PAGE, SPEC["variable"]) == []
    assert absent_races(PAGE, SPEC["guard"]) == []


@pytest.mark.multiproc
def test_the_program_of_the_page_prints_what_it_says(tmp_path: Path) -> None:
    assert run_of_the_page(PAGE, tmp_path / "mailbox.py") == (0, "", said_on_the_page(PAGE))
