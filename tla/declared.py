"""Runs whose components are declared, for TLC: after Open comes Declare, and then events that each have an answer."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeAlias

from tla.judging import Malformed
from tla.trace_events import Event

__all__ = ("Events", "answered", "declared_components", "opened_ranks")

Events: TypeAlias = Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
"""Action -> its arguments, and what it answers."""


def opened_ranks(first: Event, protocol: str) -> int:
    """Return how many ranks the first event of a run opens; 0 when it is no usable Open."""
    ranks = first.get("ranks")
    if first.get("action") != "Open" or first.get("protocol") != protocol or type(ranks) is not int or ranks < 1:
        return 0
    return ranks


def declared_components(event: Event) -> list[Any]:
    """Return the components, as the event after Open lists them."""
    args = event.get("args")
    listed = args.get("components") if isinstance(args, dict) else None
    if event.get("action") != "Declare" or not isinstance(listed, list) or not listed:
        raise Malformed("the first event after Open must be Declare, with components")
    return listed


def answered(event: Event, events: Events, after: Collection[str]) -> tuple[Any, Event, Event, Event]:
    """Return action, args, result and post. ``after`` is what post has to have."""
    name, args, result, post = (event.get(key) for key in ("action", "args", "result", "post"))
    wanted, answers = events.get(str(name), ((), ("no such action",)))
    if not isinstance(args, dict) or set(args) != set(wanted):
        raise Malformed(f"{name} with {args} is not an action that a host can see")
    if not isinstance(result, dict) or set(result) != set(answers) or not isinstance(post, dict):
        raise Malformed(f"{name} answers {answers}, and not {result}")
    if set(post) != set(after):
        raise Malformed(f"post must have exactly {after}")
    return name, args, result, post
