"""The benchmark runs and its figures are complete. What they are is not tested: times depend on the machine."""

import json
from pathlib import Path

import pytest

from tests.bench.__main__ import main
from tests.bench.clients import HOSTS
from tests.bench.costs import COSTS
from tests.bench.dispatch import SUBJECTS
from tests.bench.pause import measure_quiescence
from tests.bench.pause_group import measure_group

pytestmark = pytest.mark.multiproc


def test_it_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "figures.json"
    few = ["--quick", "--ranks", "2", "--sizes", "64", "--rounds", "1", "--count", "2", "--json", str(path)]
    assert main(few) == 0
    figures = json.loads(path.read_text())
    assert {cell["subject"] for cell in figures["dispatch"]} == set(SUBJECTS)
    assert all(cell["ranks"] == 2 and cell["bytes"] == 64 and cell["median"] > 0 for cell in figures["dispatch"])
    assert set(figures["costs"]) == set(HOSTS)
    assert all(set(values) == set(COSTS) for values in figures["costs"].values())
    assert "N = 2" in capsys.readouterr().out


def test_a_pause_is_measured_while_a_job_runs() -> None:
    found = measure_quiescence(0.002, 3)
    # What must hold on any machine: no pause returns before the job has ended.
    assert found.after > 0
    assert found.plain_after > 0
    assert found.ours > found.job > 0
    assert found.trip > 0
    assert "round trip" in str(found)
    group = measure_group(2, 0.002, 3)
    assert group.after > 0
    assert group.trip > 0
    assert "2 ranks" in str(group)
