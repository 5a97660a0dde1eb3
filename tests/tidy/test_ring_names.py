"""The actions of the ring have one name everywhere: contract, specification, model, page."""

from __future__ import annotations

import re
from typing import Any

import pytest

from models import ring, ring_bias, ring_last, ring_overflow, ring_place, ring_wait
from tests.explore.contract import contract
from tests.tidy.names import absent, next_calls, page_of
from tests.tidy.sources import ROOT

PARTS = {part["name"]: part for part in contract("ring")["part"]}
MODELS: dict[str, Any] = {
    "Ring": ring.Ring(),
    "RingWait": ring_wait.RingWait(),
    "RingOverflow": ring_overflow.RingOverflow(),
    "RingPlace": ring_place.RingPlace(),
    "RingBias": ring_bias.RingBias(),
    "RingLast": ring_last.RingLast(),
}
# Taken only by the variant without the guard OwnFlag.
ONLY_WITHOUT = {"LowerAll"}
each = pytest.mark.parametrize("part", PARTS.values(), ids=lambda part: str(part["name"]))


def _names(part: dict[str, Any], what: str) -> list[str]:
    return [item["name"] for item in part[what]]


@each
def test_actions(part: dict[str, Any]) -> None:
    assert next_calls(part) - ONLY_WITHOUT == set(_names(part, "action"))
    assert set(MODELS[part["name"]].actions) - ONLY_WITHOUT == set(_names(part, "action"))


@each
def test_variables(part: dict[str, Any]) -> None:
    (state,) = MODELS[part["name"]].initial()
    assert list(state._fields) == _names(part, "variable")


@each
def test_properties(part: dict[str, Any]) -> None:
    text = "".join(path.read_text() for path in (ROOT / "tla" / "ring").glob("*.tla"))
    assert [name for name in _names(part, "property") if not re.search(rf"^{name} ==", text, re.MULTILINE)] == []


@each
def test_the_page_has_every_action_and_variable(part: dict[str, Any]) -> None:
    assert absent(page_of("ring"), [*part["action"], *part["variable"]]) == []


@each
def test_the_page_names_every_guard_at_its_race(part: dict[str, Any]) -> None:
    races = page_of("ring").split("\n## Races that it closes\n")[1]
    for guard in part["guard"]:
        (row,) = (line for line in races.splitlines() if f"`{guard['constant']}`" in line)
        assert guard["race"] in row
