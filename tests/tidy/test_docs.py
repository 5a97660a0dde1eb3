"""Documentation that can be checked: links resolve, commands exist, the status page has every cell."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.tidy.sources import ROOT, text_files
from tests.verify.check import LEVELS
from tests.verify.collect import EMPTY_CELLS, protocols

PAGES = [path for path in text_files() if path.suffix == ".md"]

_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_MAKE = re.compile(r"(?:^|`|\$ )make ([a-z][a-z-]*)", re.MULTILINE)
_MODULE = re.compile(r"python3? -m ((?:fdcomm|models|tla|tests)[\w.]*)")


def _anchor(heading: str) -> str:
    """Return the anchor that a heading gets on the usual code hosts."""
    words = re.sub(r"[^\w\s-]", "", heading.replace("`", "").strip().lower())
    return re.sub(r"\s", "-", words)


def _anchors(page: Path) -> set[str]:
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    return {_anchor(line.lstrip("#")) for line in text.splitlines() if re.match(r"#+ ", line)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_resolve(page: Path) -> None:
    broken = []
    for target in _LINK.findall(_FENCE.sub("", page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        goal = (page.parent / name).resolve() if name else page
        if (
            not goal.exists()
            or not goal.is_relative_to(ROOT)
            or (anchor and goal.suffix == ".md" and anchor not in _anchors(goal))
        ):
            broken.append(target)
    assert broken == []


def _make_targets() -> set[str]:
    return set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert set(_MAKE.findall(text)) - _make_targets() == set()
    missing = []
    for name in _MODULE.findall(text):
        place = ROOT.joinpath(*name.rstrip(".").split("."))
        if not (place.with_suffix(".py").exists() or (place / "__main__.py").exists()):
            missing.append(name)
    assert missing == []


def test_the_readme_shows_the_main_commands() -> None:
    shown = set(_MAKE.findall((ROOT / "README.md").read_text()))
    assert {"verify", "test", "demo"} <= shown


@pytest.mark.parametrize("protocol", protocols())
def test_every_protocol_has_a_page_of_one_shape(protocol: str) -> None:
    text = (ROOT / "docs" / "protocols" / f"{protocol}.md").read_text()
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert headings == [
        "Actors",
        "State",
        "Actions",
        {
            "gate": "A request's way",
            "rearrange": "A request's way",
            "word": "A change's way",
            "control": "A request's way",
            "status": "A request's way",
            "readiness": "A launch's way",
            "barrier": "A round's way",
            "signal": "A segment's way",
            "layerwise": "A task's way",
            "pause": "A pause's way",
            "transfer": "A task's way",
            "blocks": "A task's way",
            "mailbox": "A request's way",
            "fmq": "A message's way",
        }.get(protocol, "A batch's way"),
        "A rank's life",
        "Guarantees",
        "Races that it closes",
        "Differences from FastDeploy",
        "Where specification and implementation differ",
    ]


def test_the_status_page_covers_every_cell() -> None:
    text = (ROOT / "docs" / "status.md").read_text()
    rows = {
        cells[0]: cells[1:]
        for line in text.splitlines()
        if line.startswith("| ")
        and len(cells := [cell.strip() for cell in line.strip("| ").split("|")]) == 1 + len(LEVELS)
    }
    assert list(rows.pop("protocol")) == list(LEVELS)
    assert sorted(name for name in rows if not name.startswith("-")) == protocols()
    for protocol in protocols():
        for level, cell in zip(LEVELS, rows[protocol], strict=True):
            if (protocol, level) in EMPTY_CELLS:
                assert cell == "empty"
            else:
                passed, made = re.match(r"(\d+)/(\d+)", cell).groups()  # type: ignore[union-attr]
                assert (int(made) > 0, passed) == (True, made), f"{protocol} {level}: {cell}"
