"""The actions of control have one name everywhere: contract, specification, core, host, page; its example runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fdcomm.core.control import Control
from fdcomm.host.control_channel import _ENDS
from tests.explore.contract import contract
from tests.tidy.sources import ROOT

SPEC = contract("control")
ACTIONS = {action["name"]: action for action in SPEC["action"]}
SEEN = {name: action for name, action in ACTIONS.items() if not action.get("environment")}
PAGE = (ROOT / "docs" / "protocols" / "control.md").read_text()

# Public methods of the core that are not actions: pure reads.
READS = {"awaited"}


def test_the_environment_has_no_method() -> None:
    assert set(ACTIONS) - set(SEEN) == {"Crash"}
    assert all(("method" in action) == (name in SEEN) for name, action in ACTIONS.items())


def test_actions_of_the_specification() -> None:
    text = (ROOT / SPEC["tla"]).read_text()
    (body,) = re.findall(r"^Next ==\n(.*?)\n\n", text, re.MULTILINE | re.DOTALL)
    assert set(re.findall(r"\b([A-Z]\w+)(?:\(| |$)", re.sub(r"\\E [^:]* :", "", body), re.MULTILINE)) == set(ACTIONS)
    constants = set(re.findall(r"^CONSTANTS ((?:[A-Z]\w+(?:, )?)+)$", text, re.MULTILINE)[0].split(", "))
    assert constants == {guard["constant"] for guard in SPEC["guard"]}


def test_methods_of_the_core() -> None:
    methods = {name: str(action["method"]).partition("(")[0] for name, action in SEEN.items()}
    public = {name for name in vars(Control) if not name.startswith("_") and callable(getattr(Control, name))}
    assert public == set(methods.values()) | READS
    for action, method in methods.items():
        assert re.search(rf"\b{action}[:.] ", str(getattr(Control, method).__doc__)), action
        assert method == ("answer" if action == "RefuseLate" else re.sub(r"(?<!^)([A-Z])", r"_\1", action).lower())


def test_events_of_the_host() -> None:
    recorded = set(_ENDS.values())
    for file in ("control_channel", "members"):
        text = (ROOT / "fdcomm" / "host" / f"{file}.py").read_text(encoding="utf-8")
        for first, second in re.findall(r'_record\(\s*"(\w+)"(?: if \w+ else "(\w+)")?', text):
            recorded |= {first, second} - {""}
    assert recorded == set(SEEN)


def test_the_page_has_every_action() -> None:
    assert [name for name in ACTIONS if f"`{name}`" not in PAGE] == []
    assert [variable["name"] for variable in SPEC["variable"] if f"`{variable['name']}`" not in PAGE] == []


@pytest.mark.multiproc
def test_the_program_of_the_page_prints_what_it_says(tmp_path: Path) -> None:
    (program,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (said,) = re.findall(r"^```text\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "control.py").write_text(program)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}
    command = [sys.executable, str(tmp_path / "control.py")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=90, check=False)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", said)
