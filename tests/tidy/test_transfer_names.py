"""The actions of transfers have one name everywhere: contract, specification, cores, host, page; its example runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fdcomm.core.rank_tasks import RankTasks
from fdcomm.core.transfer import Transfer
from tests.explore.contract import contract
from tests.tidy.sources import ROOT
from tests.traces.transfer_runs import EVENTS, INSIDE

SPEC = contract("transfer")
ACTIONS = {action["name"]: action for action in SPEC["action"]}
PAGE = (ROOT / "docs" / "protocols" / "transfer.md").read_text()

# Public methods of the cores that are not actions: pure reads, and the rank's part in a report.
READS = {"can_start", "offer", "awaited", "outstanding"}
INSIDE_READS = {"next_of", "tell"}


def _methods(key: str) -> dict[str, str]:
    return {name: str(action[key]).partition("(")[0] for name, action in ACTIONS.items() if key in action}


def test_every_action_is_somewhere() -> None:
    seen = {name for name, action in ACTIONS.items() if "method" in action}
    inside = {name for name, action in ACTIONS.items() if "inside" in action}
    assert {name for name, action in ACTIONS.items() if action.get("environment")} == set(ACTIONS) - seen - inside
    assert seen == EVENTS
    assert set(ACTIONS) - seen == INSIDE


def test_actions_of_the_specification() -> None:
    text = (ROOT / SPEC["tla"]).read_text()
    (body,) = re.findall(r"^Next ==\n(.*?)\n\n", text, re.MULTILINE | re.DOTALL)
    assert set(re.findall(r"\b([A-Z]\w+)(?:\(| |$)", re.sub(r"\\E [^:]* :", "", body), re.MULTILINE)) == set(ACTIONS)
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
    recorded = set()
    for file in ("transfer_channel", "members"):
        text = (ROOT / "fdcomm" / "host" / f"{file}.py").read_text(encoding="utf-8")
        for first, second in re.findall(r'_record\(\s*"(\w+)"(?: if \w+ else "(\w+)")?', text):
            recorded |= {first, second} - {""}
    assert recorded == EVENTS


def test_the_page_has_every_action_and_variable() -> None:
    assert [name for name in ACTIONS if f"`{name}`" not in PAGE] == []
    assert [variable["name"] for variable in SPEC["variable"] if f"`{variable['name']}`" not in PAGE] == []
    assert [guard["race"] for guard in SPEC["guard"] if not re.search(rf"\b{re.escape(guard['race'])}\b", PAGE)] == []


@pytest.mark.multiproc
def test_the_program_of_the_page_prints_what_it_says(tmp_path: Path) -> None:
    (program,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (said,) = re.findall(r"^```text\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "transfer.py").write_text(program)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}
    command = [sys.executable, str(tmp_path / "transfer.py")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=90, check=False)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", said)
