"""What is told of the parts of an engine, and the errors of waits for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from fdcomm.core.readiness import Health
from fdcomm.errors import CommTimeoutError, FdcommError, PeerLostError, RequestCancelledError, StartFailedError
from fdcomm.host.readiness_shape import in_words

__all__ = ("PartHealth", "Progress", "parts_of", "why")


@dataclass(frozen=True)
class PartHealth:
    """What is known of one part.

    Attributes:
        component: Its component.
        rank: Which part of it.
        health: "away" (nobody has come), "starting", "ready", "stuck" (ready, and its loop stands still), "failed",
            or "lost" (its process is gone).
        incarnation: How many processes there were of it, the present one included.
        stage: What it is doing while it is starting.
        fraction: How far it is with that, from 0 to 1; None: it did not say.
        reason: Why it has failed, or was withdrawn.
        age_s: Seconds since its loop last came round; None when that is not known, or does not matter.
    """

    component: str
    rank: int
    health: Health
    incarnation: int
    stage: str
    fraction: float | None
    reason: str
    age_s: float | None


Progress: TypeAlias = Callable[[tuple[PartHealth, ...]], None]
"""Is told of the parts that a wait still lacks: at its begin, and whenever something has changed."""


def why(name: str, end: Mapping[str, Any], limit: float | None) -> FdcommError:
    """Return the error of a wait that has ended without all parts."""
    parts = end["parts"]
    told: dict[str, Any] = {
        "operation": name,
        "missing": tuple(sorted({part["rank"] for part in parts})),
        "request": tuple((part["component"], part["rank"], part["health"]) for part in parts),
    }
    words = in_words(parts)
    if end["cancelled"] or end["outcome"] == "gone":
        return RequestCancelledError(f"{name}: the wait was given up; {words}", **told)
    if end["outcome"] == "late":
        text = f"{name}: not all parts were ready within {limit} s: {words}"
        return CommTimeoutError(text, waited_s=limit or 0.0, **told)
    if any(part["health"] == "failed" for part in parts):
        return StartFailedError(f"{name}: {words}; start what has failed anew, and wait again", **told)
    return PeerLostError(f"{name}: {words}; start what is lost anew, and wait again", **told)


def parts_of(parts: Iterable[Mapping[str, Any]]) -> tuple[PartHealth, ...]:
    """Return what the host says of parts."""
    return tuple(PartHealth(**part) for part in parts)
