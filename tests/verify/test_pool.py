"""The worker pool: every check gets its row, whatever it does to its process."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from tests.verify import samples
from tests.verify.check import Check, Row
from tests.verify.pool import run_all


def test_rows_come_in_the_order_of_the_checks() -> None:
    checks = [samples.passing(number) for number in range(7)]
    seen: list[Check] = []
    rows = run_all(checks, 2, 120.0, seen.append)
    assert [row.states for row in rows] == list(range(7))
    assert all(row.ok for row in rows)
    assert seen == checks


def test_a_check_of_random_runs_has_a_process_that_has_run_no_other() -> None:
    levels = ["V3", "V3", "V4", "V4", "V3"]
    first, second, alone, other, after = (row.states for row in run_all([*map(samples.telling, levels)], 1, 120.0))
    assert first == second
    assert len({first, alone, other}) == 3
    assert after == other


def test_a_failure_an_error_and_a_crash_are_failed_rows_and_the_rest_goes_on() -> None:
    finished: list[tuple[str, bool]] = []

    def note(check: Check, row: Row) -> None:
        finished.append((check.what, row.ok))

    checks = [samples.crashing(), samples.raising(), samples.failing(), samples.passing(1)]
    crash, error, failure, good = run_all(checks, 1, 120.0, finished=note)
    assert not crash.ok
    assert "ended with 3" in crash.detail
    assert "last words" in crash.detail
    assert not error.ok
    assert error.detail == "ValueError: no such luck"
    assert not failure.ok
    assert failure.detail == "as planned"
    assert good.ok
    assert finished == [("crashes", False), ("raises", False), ("fails", False), ("passes 1", True)]


def test_a_hanging_check_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    note = tmp_path / "note"
    hang, good = run_all([samples.hanging(note), samples.passing(2)], 1, 6.0)
    assert not hang.ok
    assert "not done after 6 s" in hang.detail
    assert good.ok
    pid, folder = note.read_text().split()
    assert _gone(int(pid))
    assert not os.path.exists(folder)


def _gone(pid: int) -> bool:
    """Wait until the process has ended (a zombie has); False if a minute was not enough."""
    clock = threading.Event()
    for _ in range(600):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        clock.wait(0.1)
    return False
