"""The rows of ``spec/api.toml``: what FastDeploy's queues have, and what stands for it here."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from tests.tidy.sources import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ("SPEC", "Group", "Row", "groups", "members", "rows")

SPEC = ROOT / "spec" / "api.toml"


@dataclass(frozen=True)
class Row:
    """One row. ``owner`` is the class that has the member; ``cells`` is what the row says, by column."""

    owner: str
    kind: str
    cells: dict[str, Any]

    @property
    def member(self) -> str:
        """The member's name."""
        return str(self.cells["member"])

    @property
    def name(self) -> str:
        """The member with its class."""
        return f"{self.owner}.{self.member}"


@dataclass(frozen=True)
class Group:
    """One of FastDeploy's tables."""

    owner: str
    seed: str
    title: str
    kind: str
    rows: tuple[Row, ...]


def groups() -> list[Group]:
    """Return all tables, in order."""
    text = SPEC.read_text(encoding="utf-8")
    return [
        Group(
            group["class"],
            group["seed"],
            group["title"],
            group["kind"],
            tuple(Row(group["class"], group["kind"], row) for row in group["rows"]),
        )
        for group in tomllib.loads(text)["group"]
    ]


def rows() -> list[Row]:
    """Return all rows."""
    return [row for group in groups() for row in group.rows]


def members(kind: str, owner: str = "") -> list[str]:
    """Return the names (with their class) of the members of one kind, of one class or all."""
    return [row.name for row in rows() if row.kind == kind and owner in ("", row.owner)]
