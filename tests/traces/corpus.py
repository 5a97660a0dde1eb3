"""The corpus: recordings that both judges accept, and altered ones that both reject at the right event.

``python -m tests.traces.corpus`` records it anew, which is needed only when the format of a trace changes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.traces.alter import ALTERATIONS, altered
from tests.traces.recordings import RECORDINGS, record

__all__ = ("ACCEPTED", "EXPECTED", "REJECTED", "Case", "cases", "write")

FOLDER = Path(__file__).parent / "corpus"
ACCEPTED, REJECTED = FOLDER / "accepted", FOLDER / "rejected"
EXPECTED = REJECTED / "expected.json"


@dataclass(frozen=True)
class Case:
    """A file of the corpus. ``position`` is the index of its first impossible event, None when it has none."""

    name: str
    file: Path
    events: list[dict[str, Any]]
    position: int | None = None
    action: str = ""


def cases() -> list[Case]:
    """Return all files of the corpus. ValueError when a file is not listed, or a listed one is missing."""
    found = [Case(f"accepted/{path.stem}", path, _events(path)) for path in sorted(ACCEPTED.glob("*.ndjson"))]
    expected = json.loads(EXPECTED.read_text())
    files = {path.stem: path for path in REJECTED.glob("*.ndjson")}
    if set(files) != set(expected):
        raise ValueError(f"listed and present differ: {sorted(set(files) ^ set(expected))}")
    for name in sorted(files):
        case = expected[name]
        found.append(
            Case(f"rejected/{name}", files[name], _events(files[name]), case["position"], case["action"]),
        )
    return found


def write() -> None:
    """Record and alter everything anew."""
    for folder in (ACCEPTED, REJECTED):
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("*.ndjson"):
            old.unlink()
    for name in RECORDINGS:
        record(name, ACCEPTED / f"{name}.ndjson")
    expected = {}
    for name, alteration in ALTERATIONS.items():
        run, position = altered(alteration, _events(ACCEPTED / f"{alteration.of}.ndjson"))
        text = "".join(json.dumps(event, separators=(",", ":")) + "\n" for event in run)
        (REJECTED / f"{name}.ndjson").write_text(text)
        expected[name] = {
            "of": alteration.of,
            "why": alteration.why,
            "position": position,
            "action": run[position]["action"],
        }
    EXPECTED.write_text(json.dumps(expected, indent=2) + "\n")


def _events(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


if __name__ == "__main__":
    write()
