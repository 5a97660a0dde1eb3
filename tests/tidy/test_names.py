"""An action has one name everywhere: contract, specification, model, core, traces, tests, documentation."""

from __future__ import annotations

import ast
import importlib
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from fdcomm import trace
from models.dispatch import Dispatch as Model
from models.dispatch_state import Config
from tests.tidy.names import page_of, snake
from tests.tidy.sources import ROOT, modules, tree

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CONTRACT: dict[str, Any] = tomllib.loads((ROOT / "spec" / "dispatch.toml").read_text())
ACTIONS = {action["name"]: action for action in CONTRACT["action"]}

# A host cannot see these happen, so they are neither methods nor events. The contract marks them.
ENVIRONMENT = {name for name, action in ACTIONS.items() if action.get("environment")}

# Disjuncts of Next that are not actions of the fixed protocol, and why.
ONLY_IN_THE_SPECIFICATION = {"LowerExist": "the later step that the variant without the guard LowerInside takes"}

# Public methods of the core that are not actions: pure reads and guards.
READS_OF_THE_CORE = {"exist_tasks", "oldest_ticket", "num_tasks", "task_ticket", "missing", "can_put", "is_waiting"}


def _method(action: str) -> str:
    """Return the core's method name that the contract gives an action."""
    return str(ACTIONS[action]["method"]).partition("(")[0]


def _operators(text: str, name: str) -> set[str]:
    """Return the operators that a TLA+ definition refers to."""
    (body,) = re.findall(rf"^{name} ==\n?(.*?)(?=^\S+(?:\(.*?\))? ==|^====|^----|\Z)", text, re.MULTILINE | re.DOTALL)
    quantified = re.sub(r"\\\*.*|\\[AE] \w+ \\in \w+", "", body)
    return set(re.findall(r"\b[A-Z][A-Za-z]+\b", quantified))


def test_the_contract_marks_the_environment() -> None:
    assert {"Crash", "CrashProducer"} == ENVIRONMENT
    assert all("method" in action for name, action in ACTIONS.items() if name not in ENVIRONMENT)


def test_actions_of_the_specification() -> None:
    text = (ROOT / "tla" / "dispatch" / "Dispatch.tla").read_text()
    defined = set(re.findall(r"^([A-Z]\w*)(?:\(.*?\))? ==", text, re.MULTILINE))
    assert _operators(text, "Next") - defined == set()
    assert _operators(text, "Next") - set(ONLY_IN_THE_SPECIFICATION) == set(ACTIONS)


def test_variables_of_the_specification_and_the_model() -> None:
    text = (ROOT / "tla" / "dispatch" / "Dispatch.tla").read_text()
    (declared,) = re.findall(r"^VARIABLES?\s(.*?)(?=^\S)", text, re.MULTILINE | re.DOTALL)
    names = [variable["name"] for variable in CONTRACT["variable"]]
    in_specification = re.findall(r"\b[a-z]\w*\b", re.sub(r"\\\*.*|\(\*.*?\*\)", "", declared))
    assert sorted(in_specification) == sorted(names)
    state = importlib.import_module("models.dispatch_state").State
    assert sorted(snake(name) for name in names) == sorted(snake(name) for name in state._fields)


def test_actions_of_the_model() -> None:
    model = Model(Config(ranks=1))
    assert set(model.actions) - set(ONLY_IN_THE_SPECIFICATION) == set(ACTIONS)


def test_methods_of_the_core() -> None:
    module, _, name = str(CONTRACT["core"]).rpartition(".")
    core = getattr(importlib.import_module(module), name)
    methods = {key for key, value in vars(core).items() if callable(value) and not key.startswith("_")}
    assert methods == {_method(action) for action in set(ACTIONS) - ENVIRONMENT} | READS_OF_THE_CORE
    assert {action: _method(action) for action in set(ACTIONS) - ENVIRONMENT} == {
        action: snake(action) for action in set(ACTIONS) - ENVIRONMENT
    }


def test_events_of_a_trace() -> None:
    assert set(trace.DISPATCH_EVENTS) == set(ACTIONS) - ENVIRONMENT


def test_the_page_has_every_action_and_variable() -> None:
    page = page_of("dispatch")
    section = page.split("\n## Actions\n")[1].split("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == list(ACTIONS)
    state = page.split("\n## State\n")[1].split("\n## ")[0]
    named = [name for row in re.findall(r"^\| (`.*?) \|", state, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)]
    assert named == [variable["name"] for variable in CONTRACT["variable"]]


@pytest.mark.parametrize("guard", CONTRACT["guard"], ids=lambda guard: str(guard["constant"]))
def test_every_guard_can_be_taken_away(guard: dict[str, str]) -> None:
    """Each has a constant, and a configuration without it that must violate the named property."""
    text = (ROOT / "tla" / "dispatch" / "Dispatch.tla").read_text()
    assert re.search(rf"\b{guard['constant']}\b", text)
    configuration = ROOT / "tla" / "dispatch" / f"MCDispatch_bug_{guard['constant']}.cfg"
    assert re.search(rf"\b{guard['violates']}\b", configuration.read_text())
    assert re.search(rf"\b{guard['constant']}\s*=\s*FALSE\b", configuration.read_text())
    races = page_of("dispatch").split("\n## Races that it closes\n")[1]
    assert re.search(rf"^\| (?:\S+, )*{re.escape(guard['race'])}\b", races, re.MULTILINE)


def _rules(path: Path) -> set[str]:
    """Return the names of the methods of a file that are rules of a Hypothesis state machine."""
    return {
        node.name
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
        if ast.unparse(decorator).partition("(")[0].endswith("rule")
    }


def test_rules_of_the_state_machines() -> None:
    machines = {path: _rules(path) for path in modules("tests") if "stateful" in path.parts}
    rules: set[str] = set().union(*machines.values())
    wanted = {snake(action) for action in ACTIONS}
    assert wanted - rules == set()
