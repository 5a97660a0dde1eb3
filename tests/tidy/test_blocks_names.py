"""The actions of blocks have one name everywhere: contract, specification, core, record, page; its example runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fdcomm.blocks import BLOCKS_EVENTS
from fdcomm.core.blocks import Blocks
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
    snake,
)
from tests.tidy.sources import ROOT

SPEC = contract("blocks")
ACTIONS = {action["name"]: action for action in SPEC["action"]}
SEEN = {name: action for name, action in ACTIONS.items() if not action.get("environment")}
PAGE = page_of("blocks")

# Public methods of the core that are not actions: reads.
READS = {"find", "find_late", "count", "free_ids", "check"}


def test_the_environment_has_no_method() -> None:
    assert set(ACTIONS) - set(SEEN) == {"Accept", "Withdraw", "Pull", "Succeed", "Fail", "Overrun", "Quiet", "Receive"}
    assert all(("method" in action) == (name in SEEN) for name, action in ACTIONS.items())


def test_actions_of_the_specification() -> None:
    assert next_actions(SPEC) == set(ACTIONS)
    assert constants_in_lines(SPEC) == [guard["constant"] for guard in SPEC["guard"]]


def test_methods_of_the_core() -> None:
    methods = {name: str(action["method"]).partition("(")[0] for name, action in SEEN.items()}
    assert public_methods(Blocks) == set(methods.values()) | READS
    for action, method in methods.items():
        assert re.search(rf"\b{action}[:.] ?", str(getattr(Blocks, method).__doc__)), action
        assert method == ("free" if action == "FreeStale" else snake(action))


def test_events_of_the_lists_and_their_client() -> None:
    recorded: set[str] = set()
    for file in ("blocks", "transfer_client", "transfer_receiver", "transfer_reset"):
        text = (ROOT / "fdcomm" / f"{file}.py").read_text(encoding="utf-8")
        recorded |= set(re.findall(r'(?:_record|_tell|_end)\("([A-Z]\w+)"', text))
    assert recorded == set(SEEN) == set(BLOCKS_EVENTS)


def test_the_page_has_every_action_and_variable() -> None:
    assert absent(PAGE, SPEC["action"]) == []
    assert absent(PAGE, SPEC["variable"]) == []
    assert absent_races(PAGE, SPEC["guard"]) == []


@pytest.mark.multiproc
def test_the_program_of_the_page_prints_what_it_says(tmp_path: Path) -> None:
    assert run_of_the_page(PAGE, tmp_path / "blocks.py") == (0, "", said_on_the_page(PAGE))
