"""The race register ``spec/races.toml``: reads it, and writes docs/races.md (``python -m tests.races.register``)."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.races.counterexamples import actions_of
from tests.races.pipes import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ("PAGE", "STATUSES", "Entry", "find_configuration", "page", "read", "scenarios")

PAGE = ROOT / "docs" / "races.md"
STATUSES = {
    "closed": "closed",
    "design": "alike on purpose",
    "later": "later protocol",
    "cannot": "cannot occur",
}


@dataclass(frozen=True)
class Entry:
    """One race. ``tla`` and ``tests`` are names without folder and extension.

    ``steps`` is a shortest interleaving that shows it, ``missed`` why the tests of what was published did not.
    """

    id: str
    title: str
    protocol: str
    status: str
    symptom: str
    url: str = ""
    cause: str = ""
    closed_by: str = ""
    reason: str = ""
    missed: str = ""
    steps: tuple[str, ...] = ()
    tla: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()


def read() -> list[Entry]:
    """Return the register. An unknown key, or a missing one, is an error."""
    data = tomllib.loads((ROOT / "spec" / "races.toml").read_text(encoding="utf-8"))
    return [_entry(race) for race in data["race"]]


def _entry(race: dict[str, Any]) -> Entry:
    lists: dict[str, Any] = {name: tuple(race.get(name, ())) for name in ("steps", "tla", "tests")}
    return Entry(**{**race, **lists})


def find_configuration(name: str) -> Path | None:
    """Return the configuration of that name in ``tla/``, or None."""
    return next((ROOT / "tla").glob(f"*/{name}.cfg"), None)


def scenarios() -> dict[str, ModuleType]:
    """Return the race tests: name -> module, each with a ``RACE``."""
    names = sorted(path.stem for path in (ROOT / "tests" / "races").glob("test_race_*.py"))
    return {name: importlib.import_module(f"tests.races.{name}") for name in names}


def page() -> str:
    """Return the text of docs/races.md."""
    lines = [
        "# Races",
        "",
        "What went wrong in shipped code, and what closes it here. Made from [spec/races.toml](../spec/races.toml) by",
        "`python -m tests.races.register`.",
        "",
        "Each race that is closed has a test that shows the failure on the shipped protocol, and its absence on ours,",
        "and, where it is one of the protocol, a configuration of the specification in which the guard that closes it",
        "is left out: the model checker must then find the failure. Where it is a step, and not something that never",
        "comes, the actions of a shortest counterexample are listed, as the model of the same steps finds them.",
        "",
        "P and G are steps of FastDeploy's own code; B was reported in the project of the link; words are our own.",
        "",
        "| race | title | protocol | status |",
        "|---|---|---|---|",
    ]
    entries = read()
    lines += [f"| {_link(entry)} | {entry.title} | {entry.protocol} | {STATUSES[entry.status]} |" for entry in entries]
    for entry in entries:
        lines += ["", *_section(entry)]
    return "\n".join(lines) + "\n"


def _link(entry: Entry) -> str:
    return f"[{entry.id}](#{_anchor(entry.id)})"


def _anchor(name: str) -> str:
    return name.lower().replace(".", "")


def _section(entry: Entry) -> list[str]:
    lines = [f"## {entry.id}", "", f"**{entry.title}.** {entry.symptom}", ""]
    steps = " ".join(f"{number}) {step}." for number, step in enumerate(entry.steps, 1))
    rows = [("cause", entry.cause), ("minimal interleaving", steps), ("why tests missed it", entry.missed)]
    rows += [("closed by", entry.closed_by), (_reason_title(entry), entry.reason)]
    rows += [(f"in {name}", _counterexample(name)) for name in entry.tla if entry.steps and "Shipped" in name]
    configurations = [_file(find_configuration(name), f"{name}.cfg") for name in entry.tla]
    rows.append(("specification", ", ".join(configurations)))
    tests = [_file(ROOT / "tests" / "races" / f"{name}.py", f"{name}.py") for name in entry.tests]
    rows.append(("test", ", ".join(tests)))
    rows.append(("reported", f"<{entry.url}>" if entry.url else ""))
    return lines + [f"- {name}: {text}" for name, text in rows if text]


def _counterexample(name: str) -> str:
    return " → ".join(f"`{action}`" for action in actions_of(name))


def _reason_title(entry: Entry) -> str:
    return "no configuration" if entry.status == "closed" else STATUSES[entry.status]


def _file(path: Path | None, name: str) -> str:
    return f"[{name}](../{path.relative_to(ROOT)})" if path is not None and path.exists() else f"`{name}`"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")
