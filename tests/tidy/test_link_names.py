"""The actions of the link have one name everywhere; the example of its page runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fdcomm.core.link import Link
from fdcomm.link.links import LINK_EVENTS
from tests.explore.contract import contract
from tests.tidy.sources import ROOT

SPEC = contract("link")
ACTIONS = {action["name"]: action for action in SPEC["action"]}
SEEN = {name: action for name, action in ACTIONS.items() if not action.get("environment")}
PAGE = (ROOT / "docs" / "protocols" / "link.md").read_text(encoding="utf-8")

# Public methods of the core that are not actions: reads.
READS = {"unknown"}


def test_the_environment_has_no_method() -> None:
    assert all(("method" in action) == (name in SEEN) for name, action in ACTIONS.items())


def test_actions_of_the_specification() -> None:
    text = (ROOT / SPEC["tla"]).read_text(encoding="utf-8")
    (body,) = re.findall(r"^Next ==\n(.*?)\n\n", text, re.MULTILINE | re.DOTALL)
    assert set(re.findall(r"\b([A-Z]\w+)(?:\(| |$)", re.sub(r"\\E [^:]* :", "", body), re.MULTILINE)) == set(ACTIONS)
    (block,) = re.findall(r"^CONSTANTS\n((?:    [A-Z]\w+, (?:[A-Z]\w+(?:,\s+)?)+\s+)+)", text, re.MULTILINE)
    assert re.findall(r"\w+", block) == [guard["constant"] for guard in SPEC["guard"]]


def test_methods_of_the_core() -> None:
    methods = {name: str(action["method"]).partition("(")[0] for name, action in SEEN.items()}
    public = {name for name in vars(Link) if not name.startswith("_") and callable(getattr(Link, name))}
    assert public == set(methods.values()) | READS
    for action, method in methods.items():
        assert re.search(rf"\b{action}[:.,] ?", str(getattr(Link, method).__doc__)), action


def test_events_of_the_host() -> None:
    assert set(LINK_EVENTS) == set(SEEN)
    text = (ROOT / "fdcomm" / "link" / "links.py").read_text(encoding="utf-8")
    said = set(re.findall(r'"([A-Z][a-z]+)"', text))
    assert set(SEEN) <= said


def test_the_page_has_every_action_and_variable() -> None:
    assert [name for name in ACTIONS if f"`{name}`" not in PAGE] == []
    assert [variable["name"] for variable in SPEC["variable"] if f"`{variable['name']}`" not in PAGE] == []
    assert [guard for guard in SPEC["guard"] if f"| {guard['race']} | `{guard['constant']}` |" not in PAGE] == []


@pytest.mark.multiproc
def test_the_program_of_the_page_prints_what_it_says(tmp_path: Path) -> None:
    (program,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (said,) = re.findall(r"^```text\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "linked.py").write_text(program, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}
    command = [sys.executable, str(tmp_path / "linked.py")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=90, check=False)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", said)
