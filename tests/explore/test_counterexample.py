"""Counterexamples in their three forms."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from models.__main__ import main
from models.counterexample import describe, to_html, to_mermaid, to_text
from models.dispatch import Dispatch, State
from models.dispatch_bugs import BUGS
from models.explore import Violation, explore


def _violation(guard: str) -> Violation[State]:
    found = explore(Dispatch(BUGS[guard].config), only={BUGS[guard].violates}).violation
    assert found is not None
    return found


def test_the_text_has_every_step_and_every_change() -> None:
    found = _violation("ClearOncePerEpoch")
    text = describe(found)
    assert text.splitlines()[0] == "action property ClearsOnlySeen is violated after 5 steps"
    for number, action in enumerate(found.path.actions, 1):
        assert re.search(rf"^{number}\s.*{re.escape(str(action))}", text, re.MULTILINE)
    assert "exist: FALSE -> TRUE" in text
    assert text.endswith("  got = <<<<>>, <<>>>>")


def test_mermaid_has_a_message_for_each_step_and_no_raw_markup() -> None:
    found = _violation("JoinSkips")
    lines = to_mermaid(found.path).splitlines()
    assert lines[0] == "sequenceDiagram"
    assert [line.split("host: ")[1] for line in lines if "->>" in line] == [str(a) for a in found.path.actions]
    notes = [line for line in lines if "Note over" in line]
    assert len(notes) == len(found.path)
    assert not any(sign in note.replace("<br/>", "") for note in notes for sign in "<>")


class _Page(HTMLParser):
    """Counts rows and acting cells, and notes every reference to something outside."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = self.acting = self.marked = 0
        self.heads: list[str] = []
        self.outside: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "br"):
            self.open.append(tag)
        values = dict(attrs)
        self.rows += tag == "tr"
        self.acting += tag == "td" and values.get("class") == "act"
        self.marked += values.get("class") == "new"
        self.outside += [f"{name}={value}" for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "th":
            self.heads.append(data)


def test_the_page_is_one_well_formed_file_with_a_lane_per_process() -> None:
    found = _violation("JoinSkips")
    page = _Page()
    page.feed(to_html(found.path, "without <JoinSkips>", "a & b"))
    assert page.open == []
    assert page.outside == []
    assert page.heads == ["step", "producer 0", "rank 0", "rank 1", "what changed"]
    assert (page.rows, page.acting) == (2 + len(found.path), len(found.path))
    assert page.marked >= len(found.path)


def test_an_initial_state_alone_can_be_shown() -> None:
    path = explore(Dispatch(), only=()).reached["a handle has not seen the epoch"]
    start = type(path)(path.start)
    assert "(initial)" in to_text(start)
    assert "initial state" in to_html(start, "start")


@pytest.mark.parametrize("guard", BUGS)
def test_the_command_shows_every_guard(guard: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "dispatch", "--without", guard]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"dispatch without {guard}: ")
    assert BUGS[guard].violates in out.splitlines()[0]


def test_the_command_writes_a_page(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert main(["show", "dispatch", "--without", "LowerInside", "--format", "html", "--output", str(page)]) == 0
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_the_command_checks_a_configuration(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "dispatch", "--ranks", "1", "--mortal", "0"]) == 0
    assert "holds: PutReturns" in capsys.readouterr().out
    assert main(["check", "dispatch", "--without", "ClearLowersExist"]) == 1
    assert "ExistCoherent is violated" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="ranks below 2"):
        main(["check", "dispatch", "--mortal", "2"])
