"""Every subject that is installed delivers under every load, and what goes wrong is seen. No figure is tested."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from tests.bench import example_peer, planted
from tests.bench.path import barriers
from tests.bench.path.__main__ import main
from tests.bench.path.board import LOADS, cpu_s
from tests.bench.path.catalogue import SHIPPED, names, peers
from tests.bench.path.crowd import crowded
from tests.bench.path.measure import Plan, WrongDelivery, measure
from tests.bench.path.stage import Stage
from tests.bench.path.subject import Missing
from tests.bench.results import Results

pytestmark = pytest.mark.multiproc

COUNT = 4
RING, PIPES = "ring, depth 1", "Pipe per reader, pickled once"


@pytest.mark.parametrize("name", names())
def test_a_subject_delivers(name: str) -> None:
    try:
        stage = Stage(name, 2, 100_000)
    except Missing as error:
        pytest.skip(str(error))
    with stage:
        for load, size in zip(LOADS, (64, 4096, 17_000, 100_000), strict=True):
            if load == "looking" and name in SHIPPED:
                continue
            found = stage.run(load, size, COUNT)
            assert (found["wrong"], found["faults"]) == (0, [])
            assert len(found["us"]) == COUNT
            assert min(found["us"]) > 0
            assert found["total_s"] > 0
            assert found["cpu_s"] > 0
        assert 0 <= stage.idle(0.02)["reader"] < 2
        assert len(stage.facts) == 2


def test_a_peer_is_plugged_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_PEERS", example_peer.__file__)
    assert [each.name for each in peers()] == ["socketpair per reader"]
    assert names()[-1] == "socketpair per reader"
    with Stage("socketpair per reader", 3, 70_000) as stage:
        for load in LOADS:
            assert stage.run(load, 70_000, COUNT)["wrong"] == 0


def test_a_crowd_computes_and_goes() -> None:
    with crowded() as pids:
        assert len(pids) == len(os.sched_getaffinity(0))
        before = [cpu_s(pid) for pid in pids]
        limit = time.monotonic() + 60
        while any(cpu_s(pid) <= begin for pid, begin in zip(pids, before, strict=True)):
            assert time.monotonic() < limit, "they do not compute"
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_what_is_no_adapter_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "peer.py"
    with pytest.raises(ValueError, match="no Python file"):
        peers(str(file))
    file.write_text("SUBJECTS = [object()]\n")
    with pytest.raises(ValueError, match="needs SUBJECTS"):
        peers(str(file))


@pytest.mark.parametrize("fault", planted.FAULTS)
def test_a_wrong_delivery_is_fatal(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_PEERS", planted.__file__)
    monkeypatch.setenv("FDCOMM_BENCH_FAULT", fault)
    told: list[str] = []
    plan = Plan((2,), (64,), turns=1, share=0.02, idle_s=0.01, limit_s=60)
    if fault == "dies":  # which is no wrong delivery: the others are measured all the same
        found = measure(plan, ["planted", PIPES], told.append)
        assert found.failed == {"planted": "planted: ended"}
        assert (PIPES, 2, 64, "flow") in found.cells
    else:
        with pytest.raises(WrongDelivery, match=r"planted: [24] wrong; \['rank"):
            measure(plan, ["planted"], told.append)


def test_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "results.json"
    few = ["--ranks", "1", "2", "--sizes", "64", "--turns", "1", "--share", "0.02", "--idle", "0.02"]
    assert main([*few, "--subjects", RING, PIPES, "--json", str(path)]) == 0
    results = Results(json.loads(path.read_text()))
    assert results.subjects == (RING, PIPES)
    for subject in results.subjects:
        for ranks in (1, 2):
            assert all(value > 0 for load in LOADS[:3] for value in results.values(subject, ranks, 64, load))
            assert len(results.values(subject, ranks, 64, "flow", "per_s")) == 1
        assert (subject, 2, 64) in results.of_load("crowded")
        assert results.idle(subject) is not None
    measured = {row["subject"] for row in results.data["barriers"]}
    assert set(barriers.KINDS) - measured <= {"Meeting"}
    assert len(results.data["tcp"]["ours"]) == len(results.data["tcp"]["bytes"])
    out = capsys.readouterr().out
    assert "none wrong" in out
    assert "ring, depth 1 against Pipe per reader, pickled once" in out


def test_a_run_with_a_wrong_delivery_ends_with_2(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BENCH_PEERS", planted.__file__)
    monkeypatch.setenv("FDCOMM_BENCH_FAULT", "cut")
    path = tmp_path / "results.json"
    few = ["--ranks", "1", "--sizes", "64", "--turns", "1", "--share", "0.02"]
    assert main([*few, "--subjects", "planted", "--json", str(path)]) == 2
    assert not path.exists()
