"""One run of TLC serves two checks of one invocation, and no other invocation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.refine.dispatch_graphs import FIXED, spec_graph
from tla import manifest, shared
from tla.manifest import load
from tla.run import Run, Said
from tla.shared import FOLDER, graph_run

SMALL = next(entry for entry in load() if entry.name == "MCDispatch_depth")


def _count_runs(monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    runs: list[Run] = []

    def run_with_graph(run: Run) -> Said:
        runs.append(run)
        return Said("no message", 7, f"graph {len(runs)}")

    monkeypatch.setattr(shared, "run_with_graph", run_with_graph)
    return runs


def _spec(folder: Path, text: str = "---- MODULE A ----\n====\n") -> Run:
    (folder / "A.tla").write_text(text)
    (folder / "A.cfg").write_text("SPECIFICATION Spec\n")
    return Run(folder / "A.tla", folder / "A.cfg")


def test_the_same_run_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = _count_runs(monkeypatch)
    kept = tmp_path / "kept"
    kept.mkdir()
    monkeypatch.setenv(FOLDER, str(kept))
    run = _spec(tmp_path)
    assert [graph_run(run)[1], graph_run(run)[1]] == ["graph 1", "graph 1"]
    assert graph_run(replace(run, coverage=True))[1] == "graph 2"
    assert len(runs) == 2


def test_a_changed_file_is_another_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = _count_runs(monkeypatch)
    monkeypatch.setenv(FOLDER, str(tmp_path))
    graph_run(_spec(tmp_path))
    graph_run(_spec(tmp_path, "---- MODULE A ----\n\\* other\n====\n"))
    (tmp_path / "A.cfg").write_text("SPECIFICATION Other\n")
    graph_run(Run(tmp_path / "A.tla", tmp_path / "A.cfg"))
    assert len(runs) == 3


def test_nothing_is_kept_without_an_invocation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = _count_runs(monkeypatch)
    monkeypatch.delenv(FOLDER, raising=False)
    run = _spec(tmp_path)
    assert [graph_run(run)[1], graph_run(run)[1]] == ["graph 1", "graph 2"]
    assert len(runs) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["A.cfg", "A.tla"]


@pytest.mark.tlc
def test_the_verdict_and_the_graph_are_of_one_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    assert manifest.check(SMALL).problems == ()
    (kept,) = tmp_path.glob("*.json")
    written = kept.stat().st_mtime_ns
    graph = spec_graph(FIXED["2 ranks, 2 batches retained, 2 calls at once"])
    assert len(graph.states) == SMALL.distinct
    assert [path.stat().st_mtime_ns for path in tmp_path.glob("*.json")] == [written]
    # What TLC printed decides, each time: a lower count than the manifest's is a problem.
    assert manifest.problems_of(replace(SMALL, distinct=SMALL.distinct + 1), manifest.check(SMALL).result) != ()
