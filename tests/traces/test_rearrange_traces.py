"""Recorded runs of rearrangements: both judges accept what happened, and reject what is altered, at the same event."""

from __future__ import annotations

import pytest

from models.dispatch_trace import accept
from tests.traces.both_judges import judge_both
from tests.traces.events import Event
from tests.traces.rearrange_runs import ACTIONS, ALTERED, lines_of, random_run, real_run
from tests.traces.refusals import refuse_opening
from tests.traces.schema import SCHEMA, problem
from tla.__main__ import judge_of
from tla.rearrange_trace import judge


@pytest.fixture(scope="module")
def run() -> list[Event]:
    """What a real host has recorded."""
    return real_run()


def test_random_runs_are_accepted_by_the_model(seed: int) -> None:
    for number in range(6):
        (found,) = accept(lines_of(random_run(seed + number, 1 + number % 3, 80)))
        assert found.accepted, f"seed {seed + number}: {found}"


@pytest.mark.tlc
@pytest.mark.multiproc
def test_runs_are_judged_alike(run: list[Event], seed: int) -> None:
    """One start of TLC for all: a real run, random ones, and altered ones."""
    assert {event["action"] for event in run} == ACTIONS | {"Open"}
    runs = [run, *(random_run(seed + number, 2, 60) for number in range(4))]
    judge_both(accept, judge, runs, {name: change(run) for name, change in ALTERED.items()}, seed)


@pytest.mark.multiproc
def test_recorded_lines_fit_the_schema(run: list[Event], seed: int) -> None:
    events = [*run, *(event for number in range(6) for event in random_run(seed + number, 1 + number % 3, 80))]
    assert [text for event in events if (text := problem(event, SCHEMA))] == []


@pytest.mark.parametrize(
    ("action", "change"),
    [
        ("Request", {"args": {}}),
        ("Request", {"result": {"request": 0}}),
        ("Take", {"args": {"rank": 0}}),
        ("TakeLoad", {"result": {}}),
        ("PeerReady", {"args": {"peer": 0}}),
        ("Arrive", {"result": {"begun": 1}}),
        ("Join", {"protocol": "dispatch"}),
        ("Join", {"args": {"rank": 0}}),
        ("Join", {"post": {}}),
        ("Update", {"seq": 0}),
        ("Open", {"ranks": 0}),
    ],
)
def test_a_wrong_line_does_not_fit(action: str, change: Event) -> None:
    events = (event for number in range(200) for event in random_run(number, 2, 80))
    event = next(event for event in events if event["action"] == action)
    assert problem(event, SCHEMA) == ""
    assert problem(event | change, SCHEMA) != ""


def test_a_word_that_no_phase_is_does_not_fit() -> None:
    event = random_run(1, 2, 1)[1]
    assert problem(event, SCHEMA) == ""
    for change in ({"phase": "LOADED"}, {"load": ["ok", 1]}, {"unreached": [0]}, {"more": 1}):
        assert problem(event | {"post": event["post"] | change}, SCHEMA) != ""


def test_what_is_no_trace_of_rearrangements_is_refused() -> None:
    opening = random_run(1, 2, 1)[0]
    for change in ({"ranks": 0}, {"ranks": "2"}, {"action": "Join"}):
        refuse_opening(accept, judge, opening | change)


def test_a_request_of_many_addresses_is_judged() -> None:
    """How many addresses there are is what the request has left to reach, not what somebody says."""
    opening, *_ = random_run(1, 1, 1)
    post = {"phase": "ASKED", "request": 1, "outcome": "open", "load": ["none"], "worker": ["idle"]}
    ask: Event = {"v": 1, "seq": 1, "protocol": "rearrange", "dp": 0, "action": "Request", "result": {"request": 1}}
    for said, listed in ((500, 500), (10**9, 500), (500, 499)):
        event = ask | {"args": {"addresses": said}, "post": post | {"unreached": [*range(1, listed + 1)]}}
        (found,) = accept(lines_of([opening, event]))
        assert found.accepted == (said == listed)


def test_the_command_knows_the_judge() -> None:
    assert judge_of("rearrange") is judge
