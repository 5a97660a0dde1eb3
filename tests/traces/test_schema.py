"""Recorded events are as ``spec/trace.schema.json`` says, and other lines are not."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from fdcomm.blocks import BLOCKS_EVENTS
from fdcomm.layer_table import LAYERWISE_EVENTS
from fdcomm.link.links import LINK_EVENTS
from fdcomm.mailbox.results import MAILBOX_EVENTS
from fdcomm.trace import BARRIER_EVENTS, DISPATCH_EVENTS
from tests.traces.control_runs import EVENTS as CONTROL_EVENTS
from tests.traces.corpus import cases
from tests.traces.fmq_runs import EVENTS as FMQ_EVENTS
from tests.traces.gate_runs import ACTIONS as GATE_EVENTS
from tests.traces.gate_runs import random_run, real_runs
from tests.traces.pause_runs import ACTIONS as PAUSE_EVENTS
from tests.traces.readiness_runs import EVENTS as READINESS_EVENTS
from tests.traces.rearrange_runs import ACTIONS as REARRANGE_EVENTS
from tests.traces.schema import SCHEMA, problem
from tests.traces.status_runs import EVENTS as STATUS_EVENTS
from tests.traces.transfer_runs import EVENTS as TRANSFER_EVENTS

ACCEPTED = [event for case in cases() if case.position is None for event in case.events]
GET: dict[str, Any] = next(event for event in ACCEPTED if event["action"] == "GetTasks")


def test_recorded_events_fit() -> None:
    assert [text for event in ACCEPTED if (text := problem(event, SCHEMA))] == []


def test_the_corpus_has_every_event() -> None:
    assert {event["action"] for event in ACCEPTED} == {"Open", *DISPATCH_EVENTS}


def test_the_schema_has_every_event() -> None:
    named: set[str] = set()
    for branch in SCHEMA["oneOf"]:
        action = SCHEMA["$defs"][branch["$ref"].removeprefix("#/$defs/")]["properties"]["action"]
        named |= set(action.get("enum", [action.get("const")]))
    of_queues = {"Open", *DISPATCH_EVENTS, "Post", "Take", "Gone", *BARRIER_EVENTS, *GATE_EVENTS}
    of_control = {*CONTROL_EVENTS, *STATUS_EVENTS, *(PAUSE_EVENTS - {"Admit", "Done", "Park"})}
    of_caches = {*LAYERWISE_EVENTS, *BLOCKS_EVENTS, *TRANSFER_EVENTS}
    of_sockets = {*MAILBOX_EVENTS, *FMQ_EVENTS, *LINK_EVENTS}
    assert named == {*of_queues, *of_control, *REARRANGE_EVENTS, *READINESS_EVENTS, *of_caches, *of_sockets}


def test_events_of_a_gate_fit(seed: int) -> None:
    runs = [*real_runs(3), *(random_run(seed + number, 2 + number % 2, 60) for number in range(20))]
    events = [event for run in runs for event in run]
    assert {event["action"] for event in events} >= GATE_EVENTS
    assert [text for event in events if (text := problem(event, SCHEMA))] == []


@pytest.mark.parametrize(
    ("action", "path", "value"),
    [
        ("PutAnswer", "args", {"rank": 0}),
        ("PutAnswer", "result", {"all_put": 1}),
        ("Collect", "result", {}),
        ("EndLost", "result", {"key": 0}),
        ("Join", "args", {"rank": -1}),
        ("Join", "post", {"rounds": [0], "late": [0, 0]}),
        ("Join", "protocol", "dispatch"),
        ("Open", "capacity", 0),
    ],
)
def test_a_wrong_event_of_a_gate_does_not_fit(action: str, path: str, value: object) -> None:
    events = (event for number in range(200) for event in random_run(number, 2, 60))
    event = next(event for event in events if event["action"] == action)
    assert problem(event, SCHEMA) == ""
    assert problem({**event, path: value}, SCHEMA) != ""


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("v", 2),
        ("v", True),
        ("seq", 0),
        ("seq", "1"),
        ("dp", -1),
        ("action", "Get"),
        ("protocol", "done"),
        ("args.rank", True),
        ("args.rank", -1),
        ("args.producer", 1),
        ("result.all_read", 1),
        ("result.id", 0),
        ("post.exist", 0),
        ("post.log", [0]),
        ("post.log", None),
        ("more", 1),
    ],
)
def test_a_wrong_value_does_not_fit(path: str, value: object) -> None:
    event = copy.deepcopy(GET)
    *parents, name = path.split(".")
    place = event
    for parent in parents:
        place = place[parent]
    place[name] = value
    assert problem(event, SCHEMA) != ""


@pytest.mark.parametrize("name", sorted(GET))
def test_no_field_may_be_missing(name: str) -> None:
    assert problem({key: value for key, value in GET.items() if key != name}, SCHEMA) != ""


def test_an_unknown_word_of_the_schema_is_not_skipped() -> None:
    with pytest.raises(ValueError, match="maxLength"):
        problem("x", {"maxLength": 3})
