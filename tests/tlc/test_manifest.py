"""The manifest is complete and true to the contract, and a run that differs from its entry is a failure."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.tlc.test_messages import result_of
from tla import manifest, trace
from tla.manifest import Entry, ManifestError, problems_of
from tla.messages import HOLDS, Result
from tla.run import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ENTRIES = manifest.load()
BY_NAME = {entry.name: entry for entry in ENTRIES}


def _contract() -> dict[str, Any]:
    contract: dict[str, Any] = tomllib.loads((ROOT.parent / "spec" / "dispatch.toml").read_text(encoding="utf-8"))
    return contract


def test_every_configuration_is_listed_once() -> None:
    listed = sorted(f"{entry.folder}/{entry.name}.cfg" for entry in ENTRIES)
    assert listed == sorted(str(path.relative_to(ROOT)) for path in ROOT.rglob("*.cfg"))


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_a_configuration_says_what_it_is_for_and_checks_what_is_expected(entry: Entry) -> None:
    config = entry.config()
    assert config.purpose
    assert entry.run().module.is_file()
    if entry.expect == "violates":
        assert (*config.invariants, *config.properties) == (entry.violates,), "one property, so that the name is sure"
        assert f"{entry.violates} must fail." in config.purpose
        assert entry.race
    else:
        assert config.invariants or config.properties
        assert entry.variant == "SHIPPED" or "bug" not in entry.name


def test_every_guard_of_the_contract_has_its_failing_configuration() -> None:
    for guard in _contract()["guard"]:
        entry = BY_NAME[f"MCDispatch_bug_{guard['constant']}"]
        assert (entry.race, entry.violates) == (guard["race"], guard["violates"])
        assert entry.config().switched_off() == (guard["constant"],)


def test_all_claims_of_the_contract_are_checked_somewhere_with_every_guard_on() -> None:
    contract = _contract()
    checked: set[str] = set()
    for entry in ENTRIES:
        if entry.module == "MCDispatch" and entry.expect == "holds" and entry.size == "small":
            config = entry.config()
            assert config.switched_off() == ()
            checked |= {*config.invariants, *config.properties}
    assert checked == {item["name"] for item in (*contract["invariant"], *contract["property"])}


def test_every_action_of_the_contract_happens_in_some_small_configuration() -> None:
    safe = [e for e in ENTRIES if e.module == "MCDispatch" and e.run().coverage and e.size == "small"]
    never = set.intersection(*(set(entry.never) for entry in safe))
    assert never == {"LowerExist"}, "LowerExist exists only without a guard"


def test_recorded_runs_are_judged_with_every_guard_on() -> None:
    assert [guard["constant"] for guard in _contract()["guard"]] == list(trace.GUARDS)


@pytest.mark.parametrize("race", ["P1.1", "P1.2", "P1.3", "P1.4", "P1.5", "P1.6", "P1.7", "P1.8", "P1.9", "B02", "B82"])
def test_every_race_breaks_the_shipped_protocol(race: str) -> None:
    assert [e.name for e in ENTRIES if e.race == race and e.variant == "SHIPPED" and e.expect == "violates"]


def _entry(**changes: Any) -> Entry:
    entry = BY_NAME["MCDispatchShipped_bug_P1_8"]
    return replace(entry, **{"distinct": 9, "depth": 9, **changes})


def test_the_expected_violation_is_confirmed() -> None:
    assert problems_of(_entry(), result_of("invariant")) == ()


def test_a_violation_of_another_property_is_a_failure() -> None:
    assert problems_of(_entry(violates="InStep"), result_of("invariant")) == (
        "invariant NoLostWakeUp is violated instead of InStep",
    )


def test_a_changed_count_is_a_failure() -> None:
    assert problems_of(_entry(distinct=10), result_of("invariant")) == ("distinct states: 9, and the manifest says 10",)
    assert problems_of(_entry(depth=8), result_of("invariant")) == ("depth: 9, and the manifest says 8",)


def test_no_violation_where_one_is_expected_is_a_failure() -> None:
    assert problems_of(_entry(), result_of("holds")) == ("nothing is violated, and NoLostWakeUp should be",)


def test_a_violation_where_none_is_expected_is_a_failure() -> None:
    entry = replace(BY_NAME["MCDispatchShipped_guarded"], distinct=9, depth=9)
    assert problems_of(entry, result_of("invariant")) == ("invariant NoLostWakeUp is violated, and all should hold",)


def test_a_run_that_decides_nothing_is_a_failure() -> None:
    assert "Nowhere" in problems_of(_entry(), result_of("unknown_invariant"))[0]


def test_an_unnamed_violation_is_sure_only_when_one_property_is_checked() -> None:
    entry = replace(BY_NAME["MCDispatchShipped_bug_P1_7"], distinct=104, depth=14)
    assert problems_of(entry, result_of("lasso")) == ()
    several = replace(entry, name="MCDispatchShipped_guarded_live")
    assert problems_of(several, result_of("lasso")) == (
        "temporal property one of PutReturns, AcquireReturns, Delivered is violated instead of PutReturns",
    )


def test_actions_that_are_never_taken_must_be_expected() -> None:
    entry = Entry("x", "dispatch", "X", "check", "FIXED", "holds", "small", ("dispatch",), distinct=1, depth=1)
    result = Result(HOLDS, distinct=1, depth=1, coverage={"A": (1, 1), "B": (0, 0)})
    assert problems_of(entry, result) == ("never taken: B",)
    assert problems_of(replace(entry, never=("B",)), result) == ()
    assert problems_of(replace(entry, never=("A", "B")), result) == ("taken, and the manifest says never: A",)


def test_the_abstract_steps_of_a_refinement_must_be_those_expected() -> None:
    entry = Entry("x", "meeting", "X", "refine", "FIXED", "holds", "small", ("meeting",), distinct=1, depth=1)
    result = Result(HOLDS, distinct=1, depth=1, printed=(("IS", "Pass"), ("IS", "Pass"), ("AT", 1, 1)))
    assert problems_of(entry, result) == ("abstract steps: ['Pass'], and the manifest says []",)
    assert problems_of(replace(entry, steps=("Pass",)), result) == ()
    missing = ("abstract steps: ['Pass'], and the manifest says ['Arrive', 'Pass']",)
    assert problems_of(replace(entry, steps=("Pass", "Arrive")), result) == missing


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('expect = "violates"', "wrong violates"),
        ('expect = "holds"\nviolates = "X"', "wrong violates"),
        ('expect = "maybe"', "wrong expect"),
        ('expect = "holds"\nstates = 3', "unknown keys"),
    ],
)
def test_a_malformed_entry_is_refused(line: str, said: str, tmp_path: Path) -> None:
    rest = 'protocols = ["x"]\nfolder = "x"\nmodule = "X"\nmode = "check"\nvariant = "FIXED"\nsize = "small"\n'
    file = tmp_path / "manifest.toml"
    file.write_text(f'[[config]]\nname = "X"\n{rest}{line}\n')
    with pytest.raises(ManifestError, match=said):
        manifest.load(file)
    file.write_text(f'[[config]]\nname = "X"\n{rest}expect = "holds"\n' * 2)
    with pytest.raises(ManifestError, match="listed twice: X"):
        manifest.load(file)
