"""Writes ``docs/api-parity.md`` from ``spec/api.toml``: ``python -m tests.parity.table``."""

from __future__ import annotations

from tests.parity.rows import Group, groups
from tests.tidy.sources import ROOT

__all__ = ("PAGE", "page")

PAGE = ROOT / "docs" / "api-parity.md"

_COLUMNS = {
    "argument": ("default", "protocol", "action", "trips", "test"),
    "attribute": ("view", "protocol", "action", "state", "trips", "test"),
    "barrier": ("protocol", "action", "trips", "test"),
    "method": ("protocol", "action", "trips", "test"),
}
_HEADS = {"view": "kind", "state": "what it reads", "trips": "round trips"}
_CODE = {"seed", "member", "default", "view", "test"}

_HEAD = """# FastDeploy's API, row by row

<!-- written by `python -m tests.parity.table` from spec/api.toml -->

Every argument, attribute and method of FastDeploy's `EngineWorkerQueue` and `EngineCacheQueue`, and what stands for it.
All work through server and client instances alike and on every data-parallel replica; where they behave differently,
[differences.md](differences.md) says how and why. Actions are those of the protocol's contract in `spec/`; `session`
is what a handle does for itself, `notes` and `disaggregate` are plain stores of the host. A view is read from the host
at each access; writing through it raises `ReadOnlyError`, which names the method that does what was meant.

FMQ and the ZeroMQ classes are those that [`drop_in`](migrate.md) puts in FastDeploy's place; they are called as
FastDeploy's, and `fdcomm.mq` and `fdcomm.ZmqIpcServer` are beneath. `messages` are requests and answers of which
ZeroMQ keeps the order, `topic` is publishing and subscribing, `settings` are options: none has a protocol of its own.
"""


def page() -> str:
    """Return the whole page."""
    return _HEAD + "".join(_section(group) for group in groups())


def _section(group: Group) -> str:
    columns = ("seed", "member", *_COLUMNS[group.kind])
    heads = ["FastDeploy", "fdcomm", *(_HEADS.get(column, column) for column in _COLUMNS[group.kind])]
    place = f"table {group.seed}" if group.seed[0].isdigit() else f"module `{group.seed}`"
    lines = [
        f"\n## {group.owner}: {group.title[0].lower()}{group.title[1:]}\n",
        f"FastDeploy's {place}.\n",
        "| " + " | ".join(heads) + " |",
        "|" + "---|" * len(heads),
    ]
    for row in group.rows:
        cells = {"member": row.name, **{k: v for k, v in row.cells.items() if k != "member"}}
        lines.append("| " + " | ".join(_cell(column, cells[column]) for column in columns) + " |")
    return "\n".join(lines) + "\n"


def _cell(column: str, value: object) -> str:
    text = str(value).removeprefix("tests/parity/") if column == "test" else str(value)
    text = text.replace("|", "\\|")
    return f"`{text}`" if column in _CODE else text


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
