"""The configurations under which the code of the meeting is driven."""

from __future__ import annotations

from models.meeting_state import Config
from tests.conformance.meeting_part import MeetingPart

__all__ = ("LARGE", "RANDOM", "SMALL", "part_of")

R = frozenset[int]

SMALL: dict[str, Config] = {
    "one of two may give up, the other be killed": Config(timed=R({0}), mortal=R({1})),
    "another process comes": Config(ranks=1, fences=True, comes=True),
    "somebody aborts, and undoes that": Config(ranks=1, aborts=True),
    "a rank is in another round": Config(ranks=1, calls=2, parts=True),
    "one of two barriers is aborted, and that is undone": Config(ranks=1, places=2, aborts=True),
    "two barriers": Config(places=2),
}
LARGE: dict[str, Config] = {
    "another process comes, or somebody aborts": Config(ranks=1, aborts=True, fences=True, comes=True),
    "2 labels": Config(labels=2),
    "both may be killed, one may give up": Config(timed=R({0}), mortal=R({0, 1})),
    "somebody aborts": Config(ranks=1, calls=2, aborts=True, mortal=R({0, 1})),
    "two barriers, two labels": Config(labels=2, places=2),
    "two barriers, both may be killed": Config(places=2, mortal=R({0, 1})),
}

# Too large for every edge: random behaviours. The model counts three endings of a round without a pass.
RANDOM: dict[str, Config] = {
    "2 ranks, everything": Config(
        calls=6, aborts=True, fences=True, parts=True, comes=True, timed=R({0, 1}), mortal=R({1, 2})
    ),
    "3 ranks, 2 labels": Config(ranks=3, labels=2, calls=2),
    "3 ranks": Config(ranks=3, calls=4, timed=R({0}), mortal=R({2})),
    "2 ranks at 2 barriers, everything": Config(places=2, aborts=True, timed=R({0, 1}), mortal=R({1})),
    "3 ranks at 2 barriers": Config(ranks=3, places=2, calls=3, timed=R({0})),
}


def part_of(name: str) -> MeetingPart:
    """Return the part that drives a plan."""
    return MeetingPart({**SMALL, **LARGE, **RANDOM}[name])
