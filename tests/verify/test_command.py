"""The verification command around the checks: cells, exit code, table, status page."""

from __future__ import annotations

import datetime
import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from tests.verify import __main__ as command
from tests.verify import collect, samples
from tests.verify.check import LEVELS, Check, Row
from tests.verify.progress import Reporter
from tests.verify.status import render
from tests.verify.table import print_table

NOW = datetime.datetime(2030, 1, 2, 3, 4, tzinfo=datetime.timezone.utc)


def _offer(monkeypatch: pytest.MonkeyPatch, checks: list[Check]) -> None:
    monkeypatch.setattr(collect, "module_of", lambda level: "tests.verify.samples")
    monkeypatch.setattr(samples, "checks", lambda protocol, size: checks, raising=False)


def test_every_protocol_has_a_module_at_every_level() -> None:
    assert "dispatch" in collect.protocols()
    assert [level for level in LEVELS if collect.module_of(level) is None] == []


def test_a_cell_without_checks_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    _offer(monkeypatch, [])
    checks, rows = collect.collect(["dispatch"], ["V1"], "small")
    assert checks == []
    assert [(row.level, row.ok) for row in rows] == [("V1", False)]
    assert "EMPTY_CELLS" in rows[0].detail


def test_a_declared_empty_cell_passes_until_it_has_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collect, "EMPTY_CELLS", {("dispatch", "V1"): "a reason"})
    _offer(monkeypatch, [])
    assert collect.collect(["dispatch"], ["V1"], "small") == ([], [])
    _offer(monkeypatch, [samples.passing(1)])
    _, rows = collect.collect(["dispatch"], ["V1"], "small")
    assert "has checks" in rows[0].detail


@pytest.mark.parametrize(
    ("checks", "reason"),
    [
        ([samples.passing(1), samples.passing(1)], "several checks of one name: passes 1"),
        ([replace(samples.passing(1), level="V2")], "another protocol or level: passes 1"),
    ],
)
def test_a_confused_list_of_checks_fails(monkeypatch: pytest.MonkeyPatch, checks: list[Check], reason: str) -> None:
    _offer(monkeypatch, checks)
    found, rows = collect.collect(["dispatch"], ["V1"], "small")
    assert found == []
    assert reason in rows[0].detail


def test_two_modules_of_one_level_are_refused(tmp_path: Path) -> None:
    (tmp_path / "v1_a.py").touch()
    assert collect.module_of("V1", tmp_path) == "tests.verify.v1_a"
    (tmp_path / "v1_b.py").touch()
    with pytest.raises(ValueError, match="V1 has more than one module"):
        collect.module_of("V1", tmp_path)


@pytest.mark.parametrize("good", [True, False])
def test_exit_code_and_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, good: bool
) -> None:
    monkeypatch.setattr(command, "RESULTS", tmp_path / "results" / "verify.json")
    _offer(monkeypatch, [samples.passing(41), *([] if good else [samples.failing()])])
    code = command.main(["--protocol", "dispatch", "--level", "V1"])
    printed = capsys.readouterr().out
    assert code == (0 if good else 1)
    assert ("as planned" in printed) is not good
    assert "passes 41" in printed
    assert f"{1 if good else 2} checks, {0 if good else 1} failed" in printed
    assert (tmp_path / "results" / "verify.json").exists()


def test_status_needs_a_full_run(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["--write-status", "--level", "V1"])
    assert "full run" in capsys.readouterr().err


def test_longest_checks_start_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(command, "RESULTS", tmp_path / "verify.json")
    short, long, new = samples.passing(1), samples.passing(2), samples.passing(3)
    rows = {
        command._key(check): Row(*samples.CELL, check.what, ok=True, seconds=s)
        for check, s in ((short, 1.0), (long, 9.0))
    }
    command._remember(rows, "small")
    later = replace(new, level="V6")
    assert command._longest_first([short, new, long, later], "small") == [long, later, new, short]
    assert command._longest_first([short, long], "large") == [short, long]


def test_plain_progress_prints_a_line_for_each_check(capsys: pytest.CaptureFixture[str]) -> None:
    check = samples.passing(1)
    with Reporter(2, Console(file=io.StringIO())) as reporter:
        reporter.started(check)
        reporter.finished(check, Row(*samples.CELL, check.what, ok=True, seconds=1.25))
        reporter.finished(check, Row(*samples.CELL, "other", ok=False, seconds=0.0))
    assert capsys.readouterr().out.splitlines() == [
        "[1/2] ok   V1 dispatch: passes 1  1.2 s",
        "[2/2] FAIL V1 dispatch: other  0.0 s",
    ]


def test_markup_in_a_row_is_printed_as_it_is() -> None:
    out = io.StringIO()
    print_table([Row(*samples.CELL, "set [bold]", ok=False, detail="got [1, 2]")], 1.0, Console(file=out))
    assert "set [bold]" in out.getvalue()
    assert "got [1, 2]" in out.getvalue()


def test_status_page_shows_every_cell() -> None:
    rows = [
        Row("dispatch", level, f"check of {level}", ok=level != "V3", states=2000, edges=None)
        for level in list(LEVELS)[:-1]
    ]
    rows[0] = replace(rows[0], detail="a | b", bounds="N = 2")
    page = render(
        rows,
        ["dispatch", "other"],
        {("other", "V1"): "nothing to specify"},
        size="small",
        wall_s=12.3,
        versions={"Python": "3.x"},
        now=NOW,
    )
    assert "| date | 2030-01-02 03:04 UTC |" in page
    assert "| dispatch | 1/1, 2,000 states | 1/1, 2,000 states | **0/1, 2,000 states** |" in page
    assert "| other | empty | **missing** |" in page
    assert "Empty: nothing to specify." in page
    assert "| check of V1 | 2,000 | - | N = 2 | 0.0 | ok | a \\| b |" in page
    assert page.count("\n### ") == 2 * len(LEVELS)
