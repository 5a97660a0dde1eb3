"""What may be declared of components, and how parts are put in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fdcomm.core.readiness import Part
from fdcomm.errors import ConfigError
from fdcomm.host.beats import most_parts

__all__ = ("checked", "in_words", "shown")


def checked(components: object, ranks: int) -> tuple[tuple[str, int, tuple[str, ...]], ...]:
    """Return what was declared, with 0 parts as one for each rank.

    Raises:
        ConfigError: It is no list of (name, parts, names of what it needs), or there are too many parts.
    """
    found: list[tuple[str, int, tuple[str, ...]]] = []
    given: Sequence[object] = components if isinstance(components, (list, tuple)) else [components]
    for one in given:
        match one:
            case (str(name), int(parts), [*needs]) if (
                type(parts) is int and parts >= 0 and all(isinstance(needed, str) for needed in needs)
            ):
                found.append((name, parts or ranks, tuple(sorted(map(str, needs)))))
            case _:
                raise ConfigError(
                    f"readiness.declare: {one!r} must be (name, parts, names of what it needs first), parts from 0"
                )
    most = most_parts(ranks)
    if sum(parts for _, parts, _ in found) > most:
        raise ConfigError(f"readiness.declare: a replica of {ranks} ranks has at most {most} parts, and not {found}")
    return tuple(found)


def shown(
    component: str, rank: int, part: Part, stage: tuple[str, float | None], age_s: float | None
) -> dict[str, Any]:
    """Return what is told of a part: plain values only."""
    return {
        "component": component,
        "rank": rank,
        "health": part.health,
        "incarnation": part.inc,
        "stage": stage[0],
        "fraction": stage[1],
        "reason": part.reason,
        "age_s": age_s,
    }


def in_words(parts: Iterable[Mapping[str, Any]]) -> str:
    """Return parts in words: each with its health, and why."""
    texts = []
    for part in parts:
        text = f"{part['component']} {part['rank']} is {part['health']}"
        if part["health"] == "starting" and part["stage"]:
            text += f" ({part['stage']})"
        if part["health"] == "stuck" and part["age_s"] is not None:
            text += f" (its loop has stood still for {part['age_s']:.1f} s)"
        texts.append(text + (f": {part['reason']}" if part["reason"] not in ("", part["stage"]) else ""))
    return "; ".join(texts)
