"""The models are held to every listed counterexample, and a model that is not as listed is found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from models.kernel import Model
from tests.verify import configured, faults
from tests.verify.collect import protocols
from tla.manifest import Entry, load

BUG = next(entry for entry in load() if entry.name == "MCDispatch_bug_PutsInOrder")
RIGHT = next(entry for entry in load() if entry.name == "MCDispatch_small")


def _answers(monkeypatch: pytest.MonkeyPatch, entry: Entry) -> list[str]:
    monkeypatch.setattr(faults, "load", lambda: [entry])
    return [text for _, text in faults.compared("dispatch")]


# Only TLC has the patience for it.
AT_NIGHT = {"RingLast_bug_OwnWord", "RingWait_bug_FreshBell", "Word_bug_FreshTokens"}


@pytest.mark.parametrize("protocol", protocols())
def test_every_check_of_a_violation_is_compared(protocol: str) -> None:
    compared = {entry.name for entry, _ in faults.compared(protocol)}
    listed = [entry for entry in load() if protocol in entry.protocols and entry.violates and entry.mode == "check"]
    assert {entry.name for entry in listed} - AT_NIGHT == compared


def test_a_configuration_with_a_constant_that_the_model_lacks_is_found() -> None:
    entry = next(entry for entry in load() if entry.name == "MCWorkerLoop_bug_OwnRead")
    assert configured.configured(entry).name
    with pytest.raises(ValueError, match="the model has"):
        configured.configured(replace(entry, module="LayerOpen", name="LayerPair_bug_P12_1", folder="layerwise"))


def test_a_longer_counterexample_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _answers(monkeypatch, BUG) == [""]
    assert _answers(monkeypatch, replace(BUG, depth=BUG.depth + 1)) == ["4 states, and TLC found 5"]


def test_a_fault_that_no_model_has_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    other = replace(BUG, name=RIGHT.name, size="large")
    assert _answers(monkeypatch, other) == ["no model has these constants, and TLC runs it only at night"]


def test_a_model_that_keeps_the_property_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    make, table = faults._TABLES["MCDispatch"]

    def guarded(config: Any) -> Model[Any]:
        return make(replace(config, guards=type(config.guards)()))

    monkeypatch.setitem(faults._TABLES, "MCDispatch", (guarded, table))
    assert _answers(monkeypatch, BUG) == ["the model keeps WaitingInOrder"]
