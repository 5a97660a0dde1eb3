"""Recorded runs of layer-wise senders: both judges accept what happened, and reject altered runs at the same event."""

from __future__ import annotations

import pytest

from models.dispatch_trace import accept
from tests.traces.both_judges import counts_of_fitting, judge_both
from tests.traces.events import Event
from tests.traces.layerwise_processes import real_run
from tests.traces.layerwise_runs import ACTIONS, ALTERED, lines_of, random_run, whole_run
from tests.traces.refusals import refuse_opening
from tests.traces.schema import SCHEMA, problem
from tla.__main__ import judge_of
from tla.layerwise_trace import judge


def test_random_runs_are_accepted_by_the_model_and_fit_the_schema(seed: int) -> None:
    counts = counts_of_fitting(accept, {n: random_run(n, 200) for n in range(seed, seed + 8)})
    assert sum(counts.values()) > 400, f"seed {seed}: little happened: {counts}"


@pytest.mark.tlc
@pytest.mark.multiproc
def test_runs_are_judged_alike(seed: int) -> None:
    """One start of TLC for all: the runs of real processes, random ones of another capacity, and altered ones."""
    real = real_run()
    runs = [*real.events(), *(random_run(seed + number, 100) for number in range(4))]
    whole = whole_run()
    verdicts = judge_both(accept, judge, runs, {name: change(whole) for name, change in ALTERED.items()}, seed)
    for found in verdicts[:2]:
        assert {name for name in ACTIONS if not found.counts[name]} <= {"ExpireTask"}
    assert real.problems() == []
    assert [text for run in real.events() for event in run if (text := problem(event, SCHEMA))] == []
    assert [request for request, _ in real.calls[0]] == [*range(10), 11]
    assert {request: error for request, error in real.calls[0] if error} == {5: "TaskEndedError", 7: "TaskEndedError"}
    assert real.missing == [[10], [10]]


def _run(*events: tuple[str, Event, Event], modulus: int = 2**32) -> list[Event]:
    head = {"v": 1, "protocol": "layerwise", "dp": 0}
    opening = head | {"action": "Open", "slots": 2, "layers": 2, "capacity": 2, "modulus": modulus}
    return [
        opening,
        *(
            head | {"seq": seq, "action": action, "args": args, "result": result}
            for seq, (action, args, result) in enumerate(events, 1)
        ),
    ]


def _info(slot: int, step: int) -> tuple[str, Event, Event]:
    return "OnCacheInfo", {"slot": slot, "step": step}, {"ready": 0, "failed": False}


def _report(slot: int, step: int) -> tuple[str, Event, Event]:
    return "OnProgress", {"slot": slot, "step": step, "layer": 0}, {}


HALF = 2**31
CASES: dict[str, tuple[list[Event], int | None]] = {
    "steps wrap": (_run(_info(0, 2**32 - 1), _info(0, 0)), None),
    "two slots at one step": (_run(_report(0, 5), _report(1, 5), ("ExpireEarly", {"slot": 1}, {"step": 5})), None),
    "an info of an earlier step": (_run(_info(0, 0), _info(0, 2**32 - 1)), 2),
    "an info again": (_run(_info(0, 7), _info(0, 7)), 2),
    "no room": (_run(_info(0, 1), _info(1, 1), _info(0, 2)), 3),
    "an end again": (
        _run(*(("OnEnd", {"slot": 0, "step": 3}, {"ended": ended}) for ended in (True, False, True))),
        3,
    ),
    "nothing was early": (_run(("ExpireEarly", {"slot": 0}, {"step": 5})), 1),
    "a step of another slot": (_run(_report(0, 5), _report(1, 6), ("ExpireEarly", {"slot": 0}, {"step": 6})), 3),
    "just near enough": (_run(_report(0, 0), _report(0, HALF - 1), _report(0, 1)), None),
    "half of all steps away": (_run(_report(0, 0), _report(0, 1), _report(0, HALF)), 3),
    "half of all steps away from two": (_run(_report(0, 0), _report(0, HALF - 2), _report(0, HALF + 2)), 3),
    "few steps": (_run(_report(0, 0), _report(1, 0), _report(1, 1), modulus=3), None),
    "no steps": (_run(_report(0, 0), _report(0, 1), modulus=1), 2),
}


@pytest.mark.tlc
def test_corners_are_judged_alike() -> None:
    verdicts = judge([run for run, _ in CASES.values()])
    for (name, (run, position)), verdict in zip(CASES.items(), verdicts, strict=True):
        (found,) = accept(lines_of(run))
        assert verdict.position == position, f"{name}: {verdict}"
        assert (None if found.accepted else found.events) == position, f"{name}: {found}"


@pytest.mark.parametrize("change", [{"slots": 0}, {"layers": None}, {"capacity": "1"}, {"action": "OnEnd"}])
def test_what_does_not_begin_with_its_shape_is_refused(change: Event) -> None:
    refuse_opening(accept, judge, random_run(1, 1)[0] | change)


@pytest.mark.parametrize(
    ("action", "change"),
    [
        ("OnProgress", {"args": {"slot": 0, "step": 0}}),
        ("OnProgress", {"args": {"slot": 0, "step": -1, "layer": 0}}),
        ("OnProgress", {"result": {"ready": 1}}),
        ("OnCacheInfo", {"result": {"ready": 1, "failed": 0}}),
        ("NextReady", {"args": {"slot": 0}}),
        ("NextReady", {"result": {"slot": 0, "step": 0}}),
        ("OnEnd", {"result": {}}),
        ("ExpireTask", {"protocol": "rearrange"}),
        ("ExpireEarly", {"seq": 0}),
        ("NextDone", {"post": {}}),
        ("Open", {"modulus": 0}),
    ],
)
def test_a_wrong_line_does_not_fit(action: str, change: Event) -> None:
    event = next(event for event in whole_run() if event["action"] == action)
    assert problem(event, SCHEMA) == ""
    assert problem(event | change, SCHEMA) != ""


def test_the_command_knows_the_judge() -> None:
    assert judge_of("layerwise") is judge
