"""A behaviour for people: a text table, a Mermaid sequence diagram, and one self-contained HTML page."""

from __future__ import annotations

from html import escape
from typing import Any, TypeVar

from models.explore import Path, Violation
from models.kernel import Action, changes, show

__all__ = ("actor", "describe", "to_html", "to_mermaid", "to_text")

S = TypeVar("S", bound=tuple[Any, ...])

_STYLE = """
:root { color-scheme: light dark; --line: #8886; --mark: #ffd54f55; --lane: #4f9dff33; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem; }
h1 { font-size: 1.3rem; } h1 code { color: #c62828; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; }
th, td { border: 1px solid var(--line); padding: .3rem .5rem; text-align: left; vertical-align: top; }
thead th { position: sticky; top: 0; background: Canvas; }
td.act { background: var(--lane); font-weight: 600; }
code { font: 13px/1.4 ui-monospace, monospace; }
.new { background: var(--mark); display: block; }
details { margin-top: .2rem; } summary { cursor: pointer; opacity: .7; font-size: .85rem; }
tr.last td { border-bottom: 3px solid #c62828; }
"""

# Characters that Mermaid would read as its own.
_ENTITIES = str.maketrans({"#": "#35;", ";": "#59;", "<": "#lt;", ">": "#gt;"})


def actor(action: Action) -> str:
    """Return whose step it is: ``rank 0``, ``producer 1``, or ``host`` for an action of nobody else."""
    for key in ("rank", "producer", "waiter"):
        value = action.param(key)
        if value is not None:
            return f"{key} {value}"
    return "host"


def to_text(path: Path[S], title: str = "") -> str:
    """Return a table: step, actor, action, and what it changed."""
    rows = [("step", "who", "action", "changed")]
    rows.append(("0", "", "(initial)", ""))
    before = path.start
    for number, (action, after) in enumerate(path.steps, 1):
        moved = changes(before, after)
        lines = [f"{name}: {show(old)} -> {show(new)}" for name, (old, new) in moved.items()] or ["(nothing)"]
        rows.append((str(number), actor(action), str(action), lines[0]))
        rows += [("", "", "", line) for line in lines[1:]]
        before = after
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    body = ["  ".join((*(row[i].ljust(widths[i]) for i in range(3)), row[3])).rstrip() for row in rows]
    body.insert(1, "  ".join((*("-" * width for width in widths), "-" * 7)))
    fields: tuple[str, ...] = path.last._fields  # type: ignore[attr-defined]
    final = [f"  {name} = {show(value)}" for name, value in zip(fields, path.last, strict=True)]
    return "\n".join([*([title] if title else []), *body, "last state:", *final])


def to_mermaid(path: Path[S]) -> str:
    """Return a Mermaid sequence diagram: a message to the host for each step, a note for what it changed."""
    lanes = _lanes(path)
    lines = ["sequenceDiagram"]
    lines += [f"    participant {_id(lane)} as {lane}" for lane in lanes]
    if "host" not in lanes:
        lines.append("    participant host")
    before = path.start
    for action, after in path.steps:
        lines.append(f"    {_id(actor(action))}->>host: {action}")
        moved = [f"{name} = {show(new)}".translate(_ENTITIES) for name, (_, new) in changes(before, after).items()]
        lines.append(f"    Note over host: {'<br/>'.join(moved) or 'nothing changes'}")
        before = after
    return "\n".join(lines) + "\n"


def to_html(path: Path[S], title: str, subtitle: str = "") -> str:
    """Return one HTML page without outside references: a lane per process, changed variables marked."""
    lanes = _lanes(path)
    head = "".join(f"<th>{escape(lane)}</th>" for lane in lanes)
    rows = [_row(0, None, lanes, {}, path.start, last=not path.steps)]
    before = path.start
    for number, (action, after) in enumerate(path.steps, 1):
        rows.append(_row(number, action, lanes, changes(before, after), after, last=number == len(path)))
        before = after
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>\n"
        f"<h1>{escape(title)}</h1>\n<p>{escape(subtitle)}</p>\n"
        f'<div class="scroll"><table><thead><tr><th>step</th>{head}<th>what changed</th></tr></thead><tbody>\n'
        + "\n".join(rows)
        + "\n</tbody></table></div></body></html>\n"
    )


def describe(violation: Violation[S]) -> str:
    """Return a violation with its behaviour, as text."""
    return to_text(violation.path, str(violation))


def _row(
    number: int,
    action: Action | None,
    lanes: list[str],
    moved: dict[str, tuple[Any, Any]],
    state: tuple[Any, ...],
    *,
    last: bool,
) -> str:
    cells = "".join(
        f'<td class="act"><code>{escape(str(action))}</code></td>' if action and actor(action) == lane else "<td></td>"
        for lane in lanes
    )
    marked = "".join(
        f'<code class="new">{escape(name)}: {escape(show(old))} → {escape(show(new))}</code>'
        for name, (old, new) in moved.items()
    )
    fields: tuple[str, ...] = state._fields  # type: ignore[attr-defined]
    whole = "<br>".join(
        f"<code>{escape(name)} = {escape(show(value))}</code>" for name, value in zip(fields, state, strict=True)
    )
    what = marked or ("initial state" if action is None else "nothing")
    klass = ' class="last"' if last else ""
    return (
        f"<tr{klass}><td>{number}</td>{cells}"
        f"<td>{what}<details><summary>whole state</summary>{whole}</details></td></tr>"
    )


def _lanes(path: Path[S]) -> list[str]:
    return sorted({actor(action) for action in path.actions}, key=lambda lane: (lane == "host", lane))


def _id(lane: str) -> str:
    return lane.replace(" ", "")
