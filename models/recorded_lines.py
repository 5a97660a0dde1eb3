"""Recorded runs in a file (NDJSON, one event a line): the lines are read, and each channel is judged."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

from models.acceptance import Verdict
from models.recorded import Event, Malformed

__all__ = ("FORMAT", "accept_lines", "event_of", "formatted")

FORMAT = 1


def accept_lines(
    lines: Iterable[str],
    wanted: Callable[[str], bool],
    accept_channel: Callable[[str, list[Event]], Verdict],
    nothing: str,
    parse: Callable[[str], Event] | None = None,
) -> list[Verdict]:
    """Judge every channel of a trace whose protocol is wanted. A line that cannot be read rejects the whole trace.

    Args:
        lines: The trace.
        wanted: Whether channels of a protocol are judged.
        accept_channel: Judges a channel, by its name and its events.
        nothing: What is wrong with a trace that has no such channel.
        parse: Reads a line; `event_of` when left out.
    """
    channels: dict[tuple[str, int], list[Event]] = {}
    for number, line in enumerate(lines, 1):
        try:
            event = (parse or event_of)(line)
        except Malformed as error:
            return [Verdict("trace", False, number, f"line {number}: {error}", line.strip()[:200])]
        if wanted(event["protocol"]):
            channels.setdefault((event["protocol"], event["dp"]), []).append(event)
    if not channels:
        return [Verdict("trace", False, 0, nothing)]
    return [accept_channel(f"{protocol} dp={dp}", channels[protocol, dp]) for protocol, dp in sorted(channels)]


def event_of(line: str) -> Event:
    """Return the event of a line, of whichever protocol. Malformed when it is none."""
    event = formatted(line)
    if not all(isinstance(event.get(key), str) for key in ("protocol", "action")) or type(event.get("dp")) is not int:
        raise Malformed("protocol and action must be strings, and dp an integer")
    return event


def formatted(line: str) -> Event:
    """Return the object of a line that says that it is of this format."""
    try:
        event = json.loads(line)
    except ValueError as error:
        raise Malformed(f"not JSON ({error})") from None
    if not isinstance(event, dict) or event.get("v") != FORMAT:
        raise Malformed(f"not an event of format {FORMAT}")
    return event
