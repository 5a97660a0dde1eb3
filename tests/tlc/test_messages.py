"""Outcomes are read from what TLC really printed (``captured/``)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tla.messages import FAILED, HOLDS, VIOLATED, Result, read

CAPTURED = Path(__file__).parent / "captured"
EXIT_CODES = {
    "holds": 0,
    "assumption": 10,
    "deadlock": 11,
    "initial": 12,
    "invariant": 12,
    "action_property": 13,
    "refinement": 13,
    "stuttering": 13,
    "lasso": 13,
    "evaluation_error": 75,
    "undefined_name": 150,
    "unknown_invariant": 151,
}


def text_of(name: str) -> str:
    return (CAPTURED / f"{name}.txt").read_text()


def result_of(name: str) -> Result:
    return read(text_of(name), EXIT_CODES[name])


def test_all_captured_runs_are_used() -> None:
    assert {path.stem for path in CAPTURED.glob("*.txt")} == set(EXIT_CODES)


def test_a_run_that_holds() -> None:
    result = result_of("holds")
    assert (result.outcome, result.violated, result.errors) == (HOLDS, "", ())
    assert (result.generated, result.distinct, result.depth) == (3, 3, 3)
    assert result.coverage == {"Up": (2, 2)}
    assert result.printed[1] == ("UP", 1, {"a": (), "b": frozenset({0})})


@pytest.mark.parametrize(
    ("name", "kind", "violated", "states"),
    [
        ("invariant", "invariant", "NoLostWakeUp", 9),
        ("initial", "invariant", "Positive", 1),
        ("action_property", "action property", "ClearsOnlySeen", 6),
        ("refinement", "action property", "", 6),
        ("stuttering", "temporal property", "", 14),
        ("lasso", "temporal property", "", 14),
        ("deadlock", "deadlock", "", 3),
    ],
)
def test_a_violation(name: str, kind: str, violated: str, states: int) -> None:
    result = result_of(name)
    assert (result.outcome, result.kind, result.violated) == (VIOLATED, kind, violated)
    assert len(result.trace) == states
    assert result.errors == ()


def test_a_counterexample_names_actions_and_has_values() -> None:
    trace = result_of("invariant").trace
    names = ["", "CallPut", "PutAcquire", "PutScan", "PutEmpty", "PutFlags", "PutAppend", "PutRaise", "PutRelease"]
    assert [step.action for step in trace] == names
    assert trace[0].state["lock"] == -1
    assert trace[-1].state["tasks"] == (1,)
    assert trace[-1].state["exist"] == {"shm": True, "manager": False}


def test_how_a_liveness_counterexample_goes_on() -> None:
    stays = result_of("stuttering")
    assert stays.loop == len(stays.trace) - 1
    returns = result_of("lasso")
    assert returns.loop == 11
    assert result_of("invariant").loop is None


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("assumption", "is false"),
        ("evaluation_error", "identifier n is either undefined"),
        ("undefined_name", "Unknown operator: `m'"),
        ("unknown_invariant", "Nowhere"),
    ],
)
def test_a_run_that_decides_nothing_has_failed(name: str, said: str) -> None:
    result = result_of(name)
    assert result.outcome == FAILED
    assert said in " ".join(result.errors)


def test_words_without_the_exit_code_decide_nothing() -> None:
    assert read(text_of("holds"), 1).outcome == FAILED
    assert read(text_of("invariant"), 0).outcome == FAILED
    assert read(text_of("initial"), 1).outcome == FAILED


def test_an_exit_code_without_words_decides_nothing() -> None:
    assert read("", 0).outcome == FAILED
    assert read("", 12).outcome == FAILED


def test_a_cut_output_decides_nothing() -> None:
    text = text_of("holds")
    assert read(text[: text.index("@!@!@STARTMSG 2193")], 0).outcome == FAILED
