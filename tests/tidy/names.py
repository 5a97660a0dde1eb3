"""What the tests of names look at: the contract's actions in a specification, in a core, in a host, and on a page."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.tidy.sources import ROOT

__all__ = (
    "absent",
    "absent_races",
    "constants_in_lines",
    "constants_of_one_line",
    "methods_are_those",
    "next_actions",
    "next_calls",
    "page_of",
    "public_methods",
    "recorded_in_the_host",
    "run_of_the_page",
    "said_on_the_page",
    "snake",
)


def snake(action: str) -> str:
    """Return the name of an action's method: ``PutTasks`` -> ``put_tasks``."""
    return re.sub(r"(?<!^)([A-Z])", r"_\1", action).lower()


# -- specification -------------------------------------------------------------------------------------------------


def _next(spec: Mapping[str, Any]) -> str:
    """Return what Next is, without the quantifiers."""
    text = (ROOT / spec["tla"]).read_text(encoding="utf-8")
    (body,) = re.findall(r"^Next ==\n(.*?)\n\n", text, re.MULTILINE | re.DOTALL)
    return re.sub(r"\\E [^:]* :", "", body)


def next_actions(spec: Mapping[str, Any]) -> set[str]:
    """Return the actions that Next of a contract's specification has."""
    return set(re.findall(r"\b([A-Z]\w+)(?:\(| |$)", _next(spec), re.MULTILINE))


def next_calls(spec: Mapping[str, Any]) -> set[str]:
    """Return the actions with parameters that Next of a contract's specification has."""
    return set(re.findall(r"\b([A-Z]\w+)\(", _next(spec)))


def constants_of_one_line(spec: Mapping[str, Any]) -> list[str]:
    """Return the constants that the specification declares in one line, which are its guards."""
    text = (ROOT / spec["tla"]).read_text(encoding="utf-8")
    (constants,) = re.findall(r"^CONSTANTS ((?:[A-Z]\w+(?:, )?)+)$", text, re.MULTILINE)
    return str(constants).split(", ")


def constants_in_lines(spec: Mapping[str, Any]) -> list[str]:
    """Return the constants that the specification declares in lines of several, which are its guards."""
    text = (ROOT / spec["tla"]).read_text(encoding="utf-8")
    (block,) = re.findall(r"^CONSTANTS\n((?:    [A-Z]\w+, (?:[A-Z]\w+(?:,\s+)?)+\s+)+)", text, re.MULTILINE)
    return re.findall(r"\w+", block)


# -- core and host -------------------------------------------------------------------------------------------------


def public_methods(core: type) -> set[str]:
    """Return the names of a core's public methods."""
    return {name for name in vars(core) if not name.startswith("_") and callable(getattr(core, name))}


def methods_are_those(core: type, seen: Mapping[str, Mapping[str, Any]], others: Collection[str]) -> None:
    """See that a core has a method for each action, named and documented by it, and no other one but ``others``."""
    methods = {str(action["method"]).partition("(")[0]: name for name, action in seen.items()}
    assert public_methods(core) == set(methods) | set(others)
    for method, action in methods.items():
        assert snake(action) == method
        assert re.match(rf"{action}[:.] ", str(getattr(core, method).__doc__))


def recorded_in_the_host(*files: str) -> set[str]:
    """Return the events that modules of ``fdcomm/host`` record."""
    recorded: set[str] = set()
    for file in files:
        text = (ROOT / "fdcomm" / "host" / f"{file}.py").read_text(encoding="utf-8")
        for first, second in re.findall(r'_record\(\s*"(\w+)"(?: if \w+ else "(\w+)")?', text):
            recorded |= {first, second} - {""}
    return recorded


# -- page ----------------------------------------------------------------------------------------------------------


def page_of(protocol: str) -> str:
    """Return the page of a protocol."""
    return (ROOT / "docs" / "protocols" / f"{protocol}.md").read_text(encoding="utf-8")


def absent(page: str, items: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the names of a contract's items that a page lacks."""
    return [item["name"] for item in items if f"`{item['name']}`" not in page]


def absent_races(page: str, guards: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the races of a contract's guards that a page lacks."""
    return [guard["race"] for guard in guards if not re.search(rf"\b{re.escape(guard['race'])}\b", page)]


def run_of_the_page(page: str, file: Path) -> tuple[int, str, str]:
    """Run a page's program from a file; return its exit status, what it complains of, and what it prints."""
    (program,) = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    file.write_text(program, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}
    command = [sys.executable, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=90, check=False)
    return done.returncode, done.stderr, done.stdout


def said_on_the_page(page: str) -> str:
    """Return what a page says that its program prints."""
    (said,) = re.findall(r"^```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    return str(said)
