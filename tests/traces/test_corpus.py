"""Both judges accept the recordings and reject the altered ones at the right event."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from tests.traces.alter import ALTERATIONS, altered
from tests.traces.corpus import EXPECTED, cases
from tests.traces.judges import by_model, by_tlc
from tests.traces.recordings import RECORDINGS, record

CASES = cases()
RUNS = [case.events for case in CASES]
RIGHT = {case.name: case.position for case in CASES}


def test_the_corpus_is_complete() -> None:
    assert {name for name in RIGHT if name.startswith("accepted/")} == {f"accepted/{name}" for name in RECORDINGS}
    assert {name for name in RIGHT if name.startswith("rejected/")} == {f"rejected/{name}" for name in ALTERATIONS}


def test_the_model_judges_the_corpus() -> None:
    assert dict(zip(RIGHT, by_model(RUNS), strict=True)) == RIGHT


@pytest.mark.tlc
def test_tlc_judges_the_corpus() -> None:
    assert dict(zip(RIGHT, by_tlc(RUNS), strict=True)) == RIGHT


def test_the_first_impossible_event_is_the_one_that_is_named() -> None:
    expected = json.loads(EXPECTED.read_text())
    for case in CASES:
        if case.position is not None:
            name = case.name.removeprefix("rejected/")
            assert case.events[case.position]["action"] == case.action == expected[name]["action"]


@pytest.mark.multiproc
@pytest.mark.parametrize("name", RECORDINGS)
def test_a_new_recording_is_accepted_and_its_alterations_are_not(name: str, tmp_path: Path) -> None:
    trace = tmp_path / "trace.ndjson"
    record(name, trace)
    events = [json.loads(line) for line in trace.read_text().splitlines()]
    run = [event for event in events if event["protocol"] == "dispatch"]  # a host has other channels too
    changes = [altered(change, run) for change in ALTERATIONS.values() if change.of == name]
    assert changes
    assert by_model([run, *(other for other, _ in changes)]) == [None, *(position for _, position in changes)]


def test_a_wrong_value_anywhere_is_seen_where_it_is() -> None:
    """Every value of every recorded event matters to the judge."""
    for case in CASES:
        if case.position is not None:
            continue
        runs, wanted = [], []
        for index, event in enumerate(case.events[1:], 1):
            for group in ("result", "post"):
                for key, value in event[group].items():
                    run = copy.deepcopy(case.events)
                    wrong = (
                        not value if isinstance(value, bool) else value + 1 if isinstance(value, int) else [*value, 99]
                    )
                    run[index][group][key] = wrong
                    runs.append(run)
                    wanted.append(index)
        assert len(runs) > 100
        assert by_model(runs) == wanted


def _other(value: object) -> object:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    assert isinstance(value, list)
    return [*value, 99]
