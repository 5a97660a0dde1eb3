"""The actions of transfers have one name everywhere: contract, specification, cores, host, page; its example runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fdcomm.core.rank_tasks import RankTasks
from fdcomm.core.transfer import Transfer
from tests.explore.contract import contract
from tests.tidy.names import (
    absent,
    absent_races,
    next_actions,
    page_of,
    recorded_in_the_host,
    run_of_the_page,
    said_on_the_page,
)
from tests.tidy.sources import ROOT
from tests.traces.transfer_runs import EVENTS, INSIDE

SPEC = contract("transfer")
ACTIONS = {action["name"]: action for action in SPEC["action"]}
PAGE = page_of("transfer")

# Public methods of the cores that are not actions: pure reads, and the rank's part in a report.
READS = {"can_start", "offer", "awaited", "outstanding"}
INSIDE_READS = {"next_of", "tell", "overdue", "settle"}


def _methods(key: str) -> dict[str, str]:
    return {name: str(action[key]).partition("(")[0] for name, action in ACTIONS.items() if key in action}


def test_every_action_is_somewhere() -> None:
    seen = {name for name, action in ACTIONS.items() if "method" in action}
    inside = {name for name, action in ACTIONS.items() if "inside" in action}
    assert {name for name, action in ACTIONS.items() if action.get("environment")} == set(ACTIONS) - seen - inside
    assert seen == EVENTS
    assert set(ACTIONS) - seen == INSIDE


def test_actions_of_the_specification() -> None:
    assert next_actions(SPEC) == set(ACTIONS)
    text = (ROOT / SPEC["tla"]).read_text()
    (constants,) = re.findall(r"^CONSTANTS ((?:[A-Z]\w+(?:,\s+)?)+)$", text, re.MULTILINE)
    assert re.split(r",\s+", constants) == [guard["constant"] for guard in SPEC["guard"]]


@pytest.mark.parametrize(("core", "key", "reads"), [(Transfer, "method", READS), (RankTasks, "inside", INSIDE_READS)])
def test_methods_of_the_cores(core: type, key: str, reads: set[str]) -> None:
    methods = _methods(key)
    public = {name for name, value in vars(core).items() if not name.startswith("_") and callable(value)}
    assert public == set(methods.values()) | reads
    for action, method in methods.items():
        assert re.search(rf"\b{action}[:.] ", str(getattr(core, method).__doc__)), action


def test_events_of_the_host() -> None:
    assert recorded_in_the_host("transfer_channel", "transfer_clients", "members") == EVENTS


def test_the_page_has_every_action_and_variable() -> None:
    assert absent(PAGE, SPEC["action"]) == []
    assert absent(PAGE, SPEC["variable"]) == []
    assert absent_races(PAGE, SPEC["guard"]) == []


@pytest.mark.multiproc
def test_the_program_of_the_page_prints_what_it_says(tmp_path: Path) -> None:
    assert run_of_the_page(PAGE, tmp_path / "transfer.py") == (0, "", said_on_the_page(PAGE))
