"""Recorded runs whose components are declared: the event after Open lists them, and the others each have an answer."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeAlias

from models.recorded import Event, Malformed, check_next

__all__ = ("Events", "answered", "listed_components")

Events: TypeAlias = Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
"""Action -> its arguments, and what it answers."""


def listed_components(event: Event) -> list[Any]:
    """Return the components that the event after Open declares. Malformed when it does not."""
    args = event.get("args")
    declared = args.get("components") if isinstance(args, dict) else None
    if event["action"] != "Declare" or event.get("seq") != 1 or not isinstance(declared, list) or not declared:
        raise Malformed("the first event after Open must be Declare, with components")
    return declared


def answered(event: Event, number: int, events: Events, after: Collection[str]) -> tuple[str, Event, Event, Event]:
    """Return action, args, result and post of the event of this number. ``after`` is what post has to have."""
    name, args, result, post = event["action"], event.get("args"), event.get("result"), event.get("post")
    check_next(event, number)
    if name not in events:
        raise Malformed(f"{name!r} is not an action that a host can see")
    wanted, answers = events[name]
    if not isinstance(args, dict) or set(args) != set(wanted):
        raise Malformed(f"args of {name} must be {wanted}, not {args}")
    if not isinstance(result, dict) or set(result) != set(answers):
        raise Malformed(f"result of {name} must be {answers}, not {result}")
    if not isinstance(post, dict) or set(post) != set(after):
        raise Malformed(f"post must have exactly {after}")
    return name, args, result, post
