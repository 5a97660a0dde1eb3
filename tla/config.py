"""What a TLC configuration file says: constants, and which properties it checks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

__all__ = ("Config", "read_config")

_SECTIONS = {
    "CONSTANT": "constants",
    "CONSTANTS": "constants",
    "INVARIANT": "invariants",
    "INVARIANTS": "invariants",
    "PROPERTY": "properties",
    "PROPERTIES": "properties",
    "SPECIFICATION": "specification",
    "INIT": "other",
    "NEXT": "other",
    "VIEW": "narrowing",
    "SYMMETRY": "narrowing",
    "CONSTRAINT": "narrowing",
    "CONSTRAINTS": "narrowing",
    "ACTION_CONSTRAINT": "narrowing",
}


@dataclass(frozen=True)
class Config:
    """Contents of a configuration file.

    Attributes:
        purpose: The comment at its top.
        narrowed: It has a constraint, a view or a symmetry, so TLC's graph is not the whole one.
    """

    purpose: str
    constants: dict[str, str]
    invariants: tuple[str, ...]
    properties: tuple[str, ...]
    specification: str = ""
    narrowed: bool = False

    def bounds(self) -> str:
        """Return the constants that are not switches, as one line."""
        return " ".join(
            f"{name}={value.replace(' ', '')}"
            for name, value in self.constants.items()
            if value not in ("TRUE", "FALSE")
        )

    def switched_off(self) -> tuple[str, ...]:
        """Return the constants that are FALSE."""
        return tuple(name for name, value in self.constants.items() if value == "FALSE")


def read_config(path: Path) -> Config:
    """Return what the file says. One constant a line, as all of ours are written."""
    constants: dict[str, str] = {}
    specification, narrowed = "", False
    names: dict[str, list[str]] = {"invariants": [], "properties": []}
    purpose: list[str] = []
    section = ""
    for raw in path.read_text(encoding="utf-8").splitlines():
        line, _, comment = raw.partition("\\*")
        if not line.strip():
            if not section and comment:
                purpose.append(comment.strip())
            continue
        word, _, rest = line.strip().partition(" ")
        if word in _SECTIONS:
            section, line = _SECTIONS[word], rest
        if section == "specification":
            specification = line.strip() or specification
        elif section == "narrowing":
            narrowed = True
        elif section == "constants":
            found = re.match(r"\s*(\w+)\s*(?:=|<-)\s*(.*\S)\s*$", line)
            if found:
                constants[found[1]] = found[2]
        elif section in names:
            names[section] += line.split()
    return Config(
        " ".join(purpose), constants, tuple(names["invariants"]), tuple(names["properties"]), specification, narrowed
    )
