"""Runs of real handles are accepted by TLC and by the model, and altered ones rejected by both at one event."""

from __future__ import annotations

import pytest

from models.dispatch_trace import accept
from tests.traces.both_judges import objections
from tests.traces.fmq_runs import ALTERED, EVENTS, lines_of, random_run, whole_run
from tests.traces.schema import SCHEMA, problem
from tla.fmq_trace import judge


def test_the_model_accepts_random_runs(seed: int) -> None:
    for number in range(20):
        verdict = accept(lines_of(random_run(seed + number, 60)))[0]
        assert verdict.accepted, f"seed {seed + number}: {verdict}"


def test_runs_fit_the_schema(seed: int) -> None:
    runs = [whole_run(), *(random_run(seed + number, 60) for number in range(5))]
    assert [text for run in runs for event in run if (text := problem(event, SCHEMA))] == []


@pytest.mark.parametrize(
    ("action", "path", "value"),
    [
        ("Open", "keep", 1),
        ("Open", "window", 0),
        ("Put", "args", {"p": 0, "number": 0, "base": 0}),
        ("Put", "protocol", "mailbox"),
        ("Connect", "args", {"p": 0, "base": 0}),
        ("Take", "args", {"p": 0, "c": 0, "number": 1, "base": 0}),
        ("HearAck", "args", {"p": -1, "number": 1}),
        ("EndConsumer", "args", {"p": 0}),
        ("Cut", "action", "Break"),
    ],
)
def test_a_wrong_event_does_not_fit(action: str, path: str, value: object) -> None:
    event = next(event for event in whole_run() if event["action"] == action)
    assert problem(event, SCHEMA) == ""
    assert problem({**event, path: value}, SCHEMA) != ""


def test_every_action_occurs() -> None:
    runs = [whole_run(), *(random_run(number, 60) for number in range(10))]
    assert {event["action"] for run in runs for event in run} == EVENTS | {"Open"}


@pytest.mark.tlc
def test_both_judges_agree() -> None:
    good = [whole_run(), random_run(3, 60)]
    bad = {name: change(good[0]) for name, change in ALTERED.items()}
    by_model = [accept(lines_of(run))[0] for run in (*good, *bad.values())]
    assert objections(by_model, judge([*good, *bad.values()]), bad) == []
