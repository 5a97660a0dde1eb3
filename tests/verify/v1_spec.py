"""V1: TLC over every configuration of a protocol; each must give what ``tla/manifest.toml`` says."""

from __future__ import annotations

from tests.verify.check import Check, Row
from tla import manifest
from tla.manifest import Entry

__all__ = ("check_entry", "checks")


def check_entry(protocol: str, entry: Entry) -> Row:
    """Run TLC for one entry."""
    outcome = manifest.check(entry)
    result = outcome.result
    if outcome.problems:
        detail = "; ".join(outcome.problems) + f" (see: python -m tla check {protocol} --cfg {entry.name} --show)"
    elif entry.violates:
        detail = f"{entry.violates} fails in {len(result.trace)} states, as it must"
    else:
        detail = f"depth {result.depth}"
    return Row(
        protocol,
        "V1",
        _what(entry),
        ok=not outcome.problems,
        states=result.distinct,
        bounds=entry.config().bounds(),
        detail=detail,
    )


def _what(entry: Entry) -> str:
    if entry.violates:
        return f"{entry.name}: {entry.race or 'the fault'} breaks {entry.violates}"
    kind = {"check": "safety", "live": "liveness", "refine": "refinement", "simulate": "random behaviours"}[entry.mode]
    return f"{entry.name}: {kind}"


def checks(protocol: str, size: str) -> list[Check]:
    """Return one check for each configuration of the size."""
    return [
        Check(protocol, "V1", _what(entry), check_entry, (protocol, entry))
        for entry in manifest.find(protocol, size=size)
    ]
