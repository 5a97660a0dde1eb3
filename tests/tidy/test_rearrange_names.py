"""Rearrange's actions have one name everywhere: contract, specification, core, host, page."""

from __future__ import annotations

import re

from fdcomm.core.rearrange import Rearrange
from tests.explore.contract import contract
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
    text = (ROOT / SPEC["tla"]).read_text()
    (body,) = re.findall(r"^Next ==\n(.*?)\n\n", text, re.MULTILINE | re.DOTALL)
    assert set(re.findall(r"\b([A-Z]\w+)(?:\(| |$)", re.sub(r"\\E [^:]* :", "", body), re.MULTILINE)) == set(ACTIONS)
    constants = set(re.findall(r"^CONSTANTS ((?:[A-Z]\w+(?:, )?)+)$", text, re.MULTILINE)[0].split(", "))
    assert constants == {guard["constant"] for guard in SPEC["guard"]}


def test_methods_of_the_core() -> None:
    methods = {str(action["method"]).partition("(")[0]: name for name, action in SEEN.items()}
    public = {name for name in vars(Rearrange) if not name.startswith("_") and callable(getattr(Rearrange, name))}
    assert public == set(methods) | READS
    for method, action in methods.items():
        assert re.sub(r"(?<!^)([A-Z])", r"_\1", action).lower() == method
        assert re.match(rf"{action}[:.] ", str(getattr(Rearrange, method).__doc__))


def test_events_of_the_host() -> None:
    recorded: set[str] = set()
    for file in ("rearrange_channel", "rearrange_parties"):
        text = (ROOT / "fdcomm" / "host" / f"{file}.py").read_text(encoding="utf-8")
        for first, second in re.findall(r'_changed\(\s*"(\w+)"(?: if [^,]+? else "(\w+)")?', text):
            recorded |= {first, second} - {""}
    assert recorded == set(SEEN) - {"RefuseReport"}


def test_the_page_has_every_action() -> None:
    page = (ROOT / "docs" / "protocols" / "rearrange.md").read_text()
    assert [name for name in ACTIONS if f"`{name}`" not in page] == []
    assert [variable["name"] for variable in SPEC["variable"] if f"`{variable['name']}`" not in page] == []
