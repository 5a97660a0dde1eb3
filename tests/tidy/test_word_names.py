"""The actions of typed access have one name everywhere: contract, specification, model, page."""

from __future__ import annotations

import re
from typing import Any

import pytest

from models.word_bugs import BUGS, model_of
from tests.explore.contract import contract
from tests.tidy.names import absent, next_calls, page_of
from tests.tidy.sources import ROOT

PARTS = {part["name"]: part for part in contract("word")["part"]}
# Taken only by the variant without the guard FreshTokens.
ONLY_WITHOUT = {"LoadToken"}
each = pytest.mark.parametrize("part", PARTS.values(), ids=lambda part: str(part["name"]))


def _names(part: dict[str, Any], what: str) -> list[str]:
    return [item["name"] for item in part[what]]


@each
def test_actions(part: dict[str, Any]) -> None:
    assert next_calls(part) - ONLY_WITHOUT == set(_names(part, "action"))
    config = next(bug.config for bug in BUGS.values() if bug.part == part["name"])
    assert set(model_of(part["name"], config).actions) - ONLY_WITHOUT == set(_names(part, "action"))


@each
def test_variables(part: dict[str, Any]) -> None:
    config = next(bug.config for bug in BUGS.values() if bug.part == part["name"])
    (state,) = model_of(part["name"], config).initial()
    assert list(state._fields) == _names(part, "variable")


@each
def test_properties(part: dict[str, Any]) -> None:
    text = (ROOT / part["tla"]).read_text()
    assert [name for name in _names(part, "property") if not re.search(rf"^{name} ==", text, re.MULTILINE)] == []


@each
def test_the_page_has_every_action_and_variable(part: dict[str, Any]) -> None:
    assert absent(page_of("word"), [*part["action"], *part["variable"]]) == []
