"""Statistics, goals, tables and the page: on figures made up here, and the committed page against its data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.bench import report
from tests.bench.goals import Judged, idle_goal, judge, judge_floors
from tests.bench.path.board import Board
from tests.bench.path.floors import floors_us
from tests.bench.path.reader import fault
from tests.bench.plots import PLOTS, draw, stamp
from tests.bench.results import Figure, Results, figure, ratio
from tests.bench.tables import Table, amount, bytes_text, goal_tables, tables
from tests.bench.text import aligned, summary

RING, TCP, PUSH = "ring, depth 1", "shipped, TCP", "pyzmq PUSH per reader"


def _data() -> dict[str, Any]:
    """A run of two turns. In the second one everything took twice as long."""
    times = {RING: 10.0, TCP: 1400.0, PUSH: 30.0}
    cells: list[dict[str, Any]] = []
    for subject, us in times.items():
        for ranks in (1, 4):
            row = {"subject": subject, "ranks": ranks, "bytes": 4096}
            both = {"us": [us, 2 * us], "p90_us": [us, 2 * us], "cpu_us": [us, 2 * us]}
            cells += [{**row, "load": load, **both} for load in ("back", "paced")]
            cells.append({**row, "load": "flow", "per_s": [100.0, 50.0]})
    cells.append({"subject": PUSH, "ranks": 4, "bytes": 4096, "load": "looking", "us": [5.0, 10.0]})
    cells.append({"subject": RING, "ranks": 4, "bytes": 4096, "load": "looking", "us": [6.0, 12.0]})
    cells.append({"subject": RING, "ranks": 4, "bytes": 4096, "load": "crowded", "us": [40.0, 100.0]})
    size = {"bytes": 4096, "dumps_us": [1.0, 2.0], "loads_us": [2.0, 4.0], "copy_us": [0.5, 1.0]}
    return {
        "format": 1,
        "machine": {
            "processors": 2,
            "system": "Linux",
            "python": "3.11",
            "packages": {"pyzmq": "27"},
            "load_before": 0.1,
            "date": "2026-01-01",
            "took_s": 60,
        },
        "plan": {"ranks": [1, 4], "sizes": [4096], "turns": 2, "share": 1.0},
        "checked": 1000,
        "skipped": {"faster-fifo per reader": "faster-fifo is not installed"},
        "failed": {},
        "cells": cells,
        "idle": [{"subject": RING, "ranks": 1, "reader": [0.002, 0.02, 0.003], "helpers": [0.0, 0.0, 0.0]}],
        "clients": [{"subject": RING, "ranks": 4, "connect_ms": [1.0, 2.0], "memory_kib": [100.0]}],
        "floors": {"hand_off_us": [0.4, 0.6], "sizes": [size]},
        "barriers": [
            {"subject": "threading.Barrier behind proxies, TCP", "ranks": 4, "us": [600.0, 900.0]},
            {"subject": "Meeting", "ranks": 4, "us": [10.0, 45.0]},
        ],
        "tcp": {"bytes": [17000], "stock": [44.0], "ours": [0.5]},
    }


@pytest.fixture
def results() -> Results:
    return Results(_data())


def test_a_ratio_is_taken_within_a_turn() -> None:
    assert ratio([1.0, 10.0, 2.0], [3.0, 30.0, 8.0]) == Figure(3.0, 3.0, 4.0)
    assert figure([5.0, 1.0, 3.0]) == Figure(3.0, 1.0, 5.0)


def test_goals_are_judged(results: Results) -> None:
    judged = {(each.peer, each.load, each.ranks): each for each in judge(results, RING)}
    shipped = judged[TCP, "back", 4]
    assert shipped.found == Figure(140.0, 140.0, 140.0)
    assert (shipped.wanted, shipped.met) == (150, False)
    assert judged[TCP, "paced", 1].met is True
    assert (TCP, "back", 1) not in judged  # that goal is for four ranks
    assert judged[PUSH, "back", 4].met is True
    assert judged[PUSH, "looking", 4].met is False  # the same goal, with a writer that looks
    assert (PUSH, "looking", 1) not in judged  # which was not measured
    assert judged["pyzmq PUB/SUB", "back", 1].met is None


def test_floors_are_judged(results: Results) -> None:
    # The best of two turns: hand-off 0.4, dumps 1, loads 2, copy 0.5. That is 3.9 of 10 and of 20; a third is wanted.
    assert results.floor_us(1, 4096, "hand_off", "dumps", "loads", "copy") == pytest.approx(3.9)
    assert results.floor_us(4, 4096, "loads") == pytest.approx(4.0)  # four ranks on two processors
    (found,) = judge_floors(results, RING)
    assert found.found is not None
    assert (found.found.least, found.found.most) == pytest.approx((0.195, 0.39))
    assert found.met is False


def test_the_idle_goal_is_of_the_median(results: Results) -> None:
    used, met = idle_goal(results, RING)
    assert used is not None
    assert (used.median, met) == (0.003, True)
    assert idle_goal(results, TCP) == (None, None)


def test_at_the_goal_is_met() -> None:
    made = [Judged(RING, TCP, "back", 64, 1, 1.5, figure([value])) for value in (1.49, 1.5)]
    assert [each.met for each in made] == [False, True]


def test_tables(results: Results) -> None:
    found = {table.title: table for table in tables(results)}
    goals = {row[0]: row[1] for row in found["Goals: cells met, of those measured"].rows}
    assert goals[TCP] == "2 of 3"
    assert goals[PUSH] == "4 of 5"
    back = {row[0]: row[1] for row in found["Until all have it, back to back, µs, N = 4"].rows}
    assert back[RING] == "15.0 (10.0 to 20.0)"
    (crowded,) = found["Back to back on a crowded machine, another process computing on each processor, µs"].rows
    assert crowded[-1] == "4.50 (4.00 to 5.00)"
    barriers = {row[0]: row[3] for row in found["A round of a barrier, µs"].rows}
    assert barriers["Meeting"] == "40.0 of 30: met"
    cells = {table.title: table for table in goal_tables(results, RING)}
    assert cells[f"{RING} against {TCP}"].rows[0] == ("back to back", "4 KiB", "-", "140 of 150: **not met**")


def test_numbers_and_text() -> None:
    assert [bytes_text(size) for size in (64, 1000, 4096, 4 << 20)] == ["64 B", "1,000 B", "4 KiB", "4 MiB"]
    assert [amount(value) for value in (0.123, 12.34, 1234.5)] == ["0.12", "12.3", "1,234"]
    assert aligned(Table("T", ("", "a"), (("row", "1"), ("r", "100")))) == "T\n       a\nrow    1\nr    100\n"
    shown = summary(_data())
    assert "skipped: faster-fifo per reader: faster-fifo is not installed" in shown
    assert "**" not in shown


def test_only_results_are_taken() -> None:
    with pytest.raises(ValueError, match="not the results"):
        Results({"cells": []})


def test_the_page_gets_its_part(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra bench is not installed")
    page, source = tmp_path / "performance.md", tmp_path / "run.json"
    page.write_text(f"Before.\n\n{report.BEGIN}\nold\n{report.END}\n\nAfter.\n")
    source.write_text(json.dumps(_data()))
    readme = tmp_path / "README.md"
    readme.write_text(f"{report.BEGIN}\n{report.END}\n")
    assert report.main([str(source), "--page", str(page), "--readme", str(readme)]) == 0
    assert report.in_short(_data()) in readme.read_text()
    text = page.read_text()
    assert text.startswith("Before.")
    assert text.endswith("After.\n")
    assert "old" not in text
    assert "140 of 150: **not met**" in text
    kept = (tmp_path / "performance" / "results.json").read_text()
    assert json.loads(kept) == _data()
    draw(Results(_data()), tmp_path, report.digest(kept))
    for name in PLOTS:
        svg = (tmp_path / "performance" / f"{name}.svg").read_text()
        assert stamp(svg) == report.digest(kept)
        assert (tmp_path / f"{name}.svg").read_text() == svg, "the same data makes the same plot"


def test_a_page_without_a_place_is_refused() -> None:
    with pytest.raises(ValueError, match="needs the lines"):
        report.replaced("no markers", "part")


def test_the_committed_page_shows_the_committed_data() -> None:
    kept = report.RESULTS.read_text(encoding="utf-8")
    page = report.PAGE.read_text(encoding="utf-8")
    assert page == report.replaced(page, report.markdown(json.loads(kept))), "run python -m tests.bench.report again"
    readme = report.README.read_text(encoding="utf-8")
    assert readme == report.replaced(readme, report.in_short(json.loads(kept)))
    for name in PLOTS:
        assert stamp((report.FOLDER / f"{name}.svg").read_text(encoding="utf-8")) == report.digest(kept), name


# -- what measures ---------------------------------------------------------------------------------------------------


def test_the_writer_is_told_by_the_last_reader() -> None:
    board = Board(3)
    for index, order in enumerate(((0, 1, 2), (2, 0, 1))):
        for nth, rank in enumerate(order):
            assert not board.is_told(), f"told before the last of {order} had batch {index}"
            board.row(rank)[index] = 100 * index + nth
            board.arrived(index)
        board.wait(index, look=bool(index))
        assert board.last(index) == 100 * index + 2


@pytest.mark.parametrize(
    ("batch", "said"),
    [
        ([{"number": 3}, b"x" * 20], ""),
        ([{"number": 4}, b"x" * 20], "number 4 instead of 3"),
        ([{"number": 3}, b"x" * 19], "19 bytes instead of 20"),
        ([{"number": 3}, b"x" * 19 + b"y"], "other bytes"),
        ([{}, b"x" * 20], "no batch"),
        (None, "no batch"),
    ],
)
def test_a_batch_is_checked(batch: Any, said: str) -> None:
    found = fault(batch, 3, 20, b"x" * 16)
    assert said in found
    assert bool(said) == bool(found)


@pytest.mark.multiproc
def test_floors_are_measured() -> None:
    found = floors_us((64,), 2, 50)
    assert len(found["hand_off_us"]) == 2
    assert all(value > 0 for key in ("dumps_us", "loads_us", "copy_us") for value in found["sizes"][0][key])
