"""The gate's actions have one name everywhere: contract, specification, core, host, page."""

from __future__ import annotations

import re

from fdcomm.core.gate import Gate
from fdcomm.host import gate_channel
from tests.explore.contract import contract
from tests.tidy.sources import ROOT

SPEC = contract("gate")
ACTIONS = {action["name"]: action for action in SPEC["action"]}
SEEN = {name: action for name, action in ACTIONS.items() if not action.get("environment")}

# Public methods of the core that are not actions: pure reads.
READS = {"pending", "missing"}


def test_the_environment_has_no_method() -> None:
    assert set(ACTIONS) - set(SEEN) == {"Issue", "Skip", "Crash"}
    assert all(("method" in action) == (name in SEEN) for name, action in ACTIONS.items())


def test_actions_of_the_specification() -> None:
    text = (ROOT / SPEC["tla"]).read_text()
    (body,) = re.findall(r"^Next ==\n(.*?)\n\n", text, re.MULTILINE | re.DOTALL)
    assert set(re.findall(r"\b([A-Z]\w+)(?:\(| |$)", re.sub(r"\\E [^:]* :", "", body))) == set(ACTIONS)
    constants = set(re.findall(r"^CONSTANTS ((?:[A-Z]\w+(?:, )?)+)$", text, re.MULTILINE)[0].split(", "))
    assert constants == {guard["constant"] for guard in SPEC["guard"]}


def test_methods_of_the_core() -> None:
    methods = {str(action["method"]).partition("(")[0]: name for name, action in SEEN.items()}
    public = {name for name in vars(Gate) if not name.startswith("_") and callable(getattr(Gate, name))}
    assert public == set(methods) | READS
    for method, action in methods.items():
        assert re.sub(r"(?<!^)([A-Z])", r"_\1", action).lower() == method
        assert re.match(rf"{action}[:.] ", str(getattr(Gate, method).__doc__))


def test_events_of_the_host() -> None:
    recorded: set[str] = set()
    for file in (gate_channel.__file__, gate_channel.__file__.replace("gate_channel", "members")):
        with open(file, encoding="utf-8") as source:
            for first, second in re.findall(r'_record\(\s*"(\w+)"(?: if \w+ else "(\w+)")?', source.read()):
                recorded |= {first, second} - {""}
    assert recorded == set(SEEN)


def test_the_page_has_every_action() -> None:
    page = (ROOT / "docs" / "protocols" / "gate.md").read_text()
    assert [name for name in ACTIONS if f"`{name}`" not in page] == []
    assert [variable["name"] for variable in SPEC["variable"] if f"`{variable['name']}`" not in page] == []
