"""The actions of the FMQ queue have one name everywhere: contract, specification, cores, record, page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fdcomm.core.fmq import Receiver, Sender
from tests.explore.contract import contract
from tests.tidy.names import absent, absent_races, next_actions, page_of, run_of_the_page, said_on_the_page
from tests.tidy.sources import ROOT

SPEC = contract("fmq")
ACTIONS = {action["name"]: action for action in SPEC["action"]}
PAGE = page_of("fmq")
READS = {"full", "undone"}


def test_actions_of_the_specification() -> None:
    assert next_actions(SPEC) == set(ACTIONS)


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
    assert absent(PAGE, SPEC["action"]) == []
    assert absent(PAGE, SPEC["variable"]) == []
    assert absent_races(PAGE, SPEC["guard"]) == []


@pytest.mark.multiproc
def test_the_program_of_the_page_prints_what_it_says(tmp_path: Path) -> None:
    assert run_of_the_page(PAGE, tmp_path / "example.py") == (0, "", said_on_the_page(PAGE))
