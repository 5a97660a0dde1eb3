"""The actions of the FMQ queue have one name everywhere: contract, specification, cores, record, page."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fdcomm.core.fmq import Receiver, Sender
from tests.explore.contract import contract
from tests.tidy.sources import ROOT

SPEC = contract("fmq")
ACTIONS = {action["name"]: action for action in SPEC["action"]}
PAGE = (ROOT / "docs" / "protocols" / "fmq.md").read_text(encoding="utf-8")
READS = {"full", "undone"}


def test_actions_of_the_specification() -> None:
    text = (ROOT / SPEC["tla"]).read_text(encoding="utf-8")
    (body,) = re.findall(r"^Next ==\n(.*?)\n\n", text, re.MULTILINE | re.DOTALL)
    assert set(re.findall(r"\b([A-Z]\w+)(?:\(| |$)", re.sub(r"\\E [^:]* :", "", body), re.MULTILINE)) == set(ACTIONS)


def test_methods_of_the_cores() -> None:
    seen = {name: action for name, action in ACTIONS.items() if not action.get("environment")}
    methods = {name: str(action["method"]).partition("(")[0] for name, action in seen.items()}
    public = {name for kind in (Sender, Receiver) for name in vars(kind) if not name.startswith("_")}
    assert public - READS == set(methods.values()) - {"Receiver"}
    for action, method in methods.items():
        if method != "Receiver":
            owner = Sender if hasattr(Sender, method) else Receiver
            text = str(getattr(owner, method).__doc__)
            assert action in text or action == "Drop", action


def test_what_the_handles_record() -> None:
    recorded: set[str] = set()
    for file in ("producer", "consumer"):
        text = (ROOT / "fdcomm" / "mq" / f"{file}.py").read_text(encoding="utf-8")
        recorded |= set(re.findall(r'_note\("([A-Z]\w+)"', text)) | set(re.findall(r'": "([A-Z]\w+)"', text))
    assert recorded == set(ACTIONS) - {"Write"}


def test_the_page_has_every_action_and_variable() -> None:
    assert [name for name in ACTIONS if f"`{name}`" not in PAGE] == []
    assert [variable["name"] for variable in SPEC["variable"] if f"`{variable['name']}`" not in PAGE] == []
    assert [guard["race"] for guard in SPEC["guard"] if not re.search(rf"\b{re.escape(guard['race'])}\b", PAGE)] == []


@pytest.mark.multiproc
def test_the_program_of_the_page_prints_what_it_says(tmp_path: Path) -> None:
    (program,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (said,) = re.findall(r"^```text\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "example.py").write_text(program, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}
    command = [sys.executable, str(tmp_path / "example.py")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=90, check=False)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", said)
