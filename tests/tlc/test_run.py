"""The runner, with TLC."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.verify import v1_spec
from tla import manifest
from tla.__main__ import main
from tla.manifest import Entry
from tla.messages import HOLDS, VIOLATED
from tla.run import ROOT, Run, RunError, command_line, dump, execute, simulate

pytestmark = pytest.mark.tlc

COUNTER = """---- MODULE Counter ----
EXTENDS Naturals
CONSTANT Top
VARIABLE n
Init == n = 0
Up == n < Top /\\ n' = n + 1
Down == n > 0 /\\ n' = n - 1
Next == Up \\/ Down
Spec == Init /\\ [][Next]_n
Small == n < 3
Natural == n \\in Nat
====
"""


def _counter(folder: Path, top: int, invariant: str = "Natural") -> Run:
    (folder / "Counter.tla").write_text(COUNTER)
    config = folder / "Counter.cfg"
    config.write_text(f"\\* A counter.\nSPECIFICATION Spec\nCONSTANT\n    Top = {top}\nINVARIANT\n    {invariant}\n")
    return Run(folder / "Counter.tla", config)


def _entry(folder: Path, **changes: object) -> Entry:
    entry = Entry("Counter", str(folder), "Counter", "check", "FIXED", "holds", "small", ("x",), distinct=6, depth=6)
    return replace(entry, **changes)  # type: ignore[arg-type]


def test_check_holds_with_coverage(tmp_path: Path) -> None:
    result = execute(replace(_counter(tmp_path, 5), coverage=True))
    assert (result.outcome, result.distinct, result.depth) == (HOLDS, 6, 6)
    assert {name: steps for name, (_, steps) in result.coverage.items()} == {"Up": 5, "Down": 5}


def test_a_violation_and_the_manifest(tmp_path: Path) -> None:
    _counter(tmp_path, 5, "Small")
    right = _entry(tmp_path, expect="violates", violates="Small", distinct=4, depth=4)
    outcome = manifest.check(right)
    assert outcome.problems == ()
    assert [step.action for step in outcome.result.trace] == ["", "Up", "Up", "Up"]
    wrong = manifest.check(replace(right, violates="Natural"))
    assert wrong.problems == ("invariant Small is violated instead of Natural",)


def test_a_changed_spec_is_seen_by_its_counts(tmp_path: Path) -> None:
    _counter(tmp_path, 6)
    assert manifest.check(_entry(tmp_path)).problems == (
        "distinct states: 7, and the manifest says 6",
        "depth: 7, and the manifest says 6",
    )


def test_two_runs_say_the_same() -> None:
    entry = manifest.find("dispatch", name="MCDispatch_bug_FenceFrees")[0]
    first, second = execute(entry.run()), execute(entry.run())
    assert first.outcome == VIOLATED
    assert first.trace == second.trace


def test_the_dumped_graph_is_whole(tmp_path: Path) -> None:
    result, graph = dump(_counter(tmp_path, 3))
    assert len(graph.states) == result.distinct == 4
    assert {(a["n"], label, b["n"]) for a, label, b in graph.edges} == {
        *((n, "Up", n + 1) for n in range(3)),
        *((n + 1, "Down", n) for n in range(3)),
    }


def test_no_graph_of_a_violated_spec(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no graph, because invariant Small is violated"):
        dump(_counter(tmp_path, 5, "Small"))


def test_simulation_finds_what_is_far_away(tmp_path: Path) -> None:
    run = _counter(tmp_path, 10**6, "Small")
    result = simulate(run, behaviours=1000, depth=60, seed=3)
    assert (result.outcome, result.violated) == (VIOLATED, "Small")
    assert result.trace[-1].state == {"n": 3}


def test_simulation_that_finds_nothing_holds(tmp_path: Path) -> None:
    entry = _entry(tmp_path, mode="simulate", behaviours=20, depth=10, seed=3)
    _counter(tmp_path, 10**6)
    assert manifest.check(entry).problems == ()


def test_a_run_that_does_not_end_is_ended(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"Counter\.cfg: TLC was ended after 3 s"):
        execute(replace(_counter(tmp_path, 10**8), timeout_s=3.0))


def test_a_missing_configuration(tmp_path: Path) -> None:
    run = _counter(tmp_path, 5)
    run.config.unlink()
    with pytest.raises(RunError, match=r"Counter\.cfg does not exist"):
        execute(run)


def test_nothing_is_left_and_nothing_old_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dump of an earlier run, and the leftovers of TLC, are nowhere where a later run could find them."""
    private, specs = tmp_path / "tmp", tmp_path / "specs"
    private.mkdir()
    specs.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(private))
    run = _counter(specs, 2)
    dump(run)
    assert list(private.iterdir()) == []
    assert sorted(path.name for path in specs.iterdir()) == ["Counter.cfg", "Counter.tla"]
    (specs / "Counter.tla").write_text("no module")
    with pytest.raises(RunError):
        dump(run)


def test_the_printed_command_runs(tmp_path: Path) -> None:
    command = command_line(_counter(tmp_path, 2))
    done = subprocess.run(
        ["bash", "-c", command + '; code=$?; rm -rf "$T"; exit $code'],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert done.returncode == 0, done.stdout
    assert "3 distinct states found" in done.stdout


def test_the_command_checks_one_and_shows_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "dispatch", "--cfg", "MCDispatchShipped_bug_P1_8", "--show"]) == 0
    shown = capsys.readouterr().out
    assert "ok   MCDispatchShipped_bug_P1_8: NoLostWakeUp fails" in shown
    assert "PutRaise" in shown


def test_the_command_fails_when_a_check_does(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _counter(tmp_path, 5, "Small")
    monkeypatch.setattr(manifest, "load", lambda: [_entry(tmp_path)])
    assert main(["check", "x"]) == 1


def test_the_command_prints_commands_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "dispatch", "-n"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(manifest.find("dispatch"))
    assert all("tlc2.TLC" in line for line in lines)


def test_an_unknown_configuration(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "dispatch", "--cfg", "nothing"]) == 2
    assert "no configuration" in capsys.readouterr().err


def test_without_tlc_the_command_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("TLA2TOOLS_JAR", str(ROOT / "gone.jar"))
    assert main(["check", "dispatch", "--cfg", "MCDispatch_small"]) == 2
    assert "gone.jar is not a file" in capsys.readouterr().err


def test_v1_has_a_row_for_each_entry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert len(v1_spec.checks("dispatch", "small")) == len(manifest.find("dispatch"))
    assert len(v1_spec.checks("dispatch", "large")) > len(v1_spec.checks("dispatch", "small"))
    _counter(tmp_path, 5)
    good = v1_spec.check_entry("x", _entry(tmp_path))
    assert (good.ok, good.states, good.bounds) == (True, 6, "Top=5")
    bad = v1_spec.check_entry("x", _entry(tmp_path, distinct=7))
    assert not bad.ok
    assert "python -m tla check x --cfg Counter --show" in bad.detail


@pytest.mark.skipif(sys.platform != "linux", reason="reads the process table")
def test_no_java_is_left(tmp_path: Path) -> None:
    with pytest.raises(RunError):
        execute(replace(_counter(tmp_path, 10**8), timeout_s=2.0))
    needle = str(tmp_path).encode()
    running = [
        path.parent.name
        for path in Path("/proc").glob("[0-9]*/cmdline")
        if path.exists() and needle in path.read_bytes()
    ]
    assert running == []
