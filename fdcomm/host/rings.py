"""Which queues go through shared memory, and how a host makes their rings and meetings."""

from __future__ import annotations

from functools import partial
from typing import Final

from fdcomm.deadline import Deadline
from fdcomm.errors import ConfigError, MemoryOrderError
from fdcomm.host.meeting_channel import MeetingChannel
from fdcomm.host.members import Place
from fdcomm.host.service import HostConfig, MakeMeeting
from fdcomm.meeting.hall import Hall
from fdcomm.meeting.layout import MOST_RANKS
from fdcomm.meeting.layout import Shape as MeetingShape
from fdcomm.ring.layout import Shape
from fdcomm.ring.memory import Memory, require_order
from fdcomm.runtime import SYSTEM

__all__ = ("MOST_SLOTS", "goes_through_rings", "make_ring", "meetings")

MOST_SLOTS: Final = 4096
_ALL_SLOTS_BYTES: Final = 1 << 22
_SLOT_BYTES: Final = (1024, 65536)
_MAKE_S: Final = 10.0


def goes_through_rings(config: HostConfig, *, traced: bool) -> bool:
    """Return whether this host's items go through shared memory, and the ranks of its barriers meet there.

    Raises:
        ConfigError: They must, and cannot.
    """
    if config.data_path == "host":
        return False
    problem = ""
    if traced:
        problem = "trace= records what the host does, and items that go through a ring do not pass it"
    elif config.depth > MOST_SLOTS:
        problem = f"a ring holds at most {MOST_SLOTS} items, and depth={config.depth}"
    else:
        try:
            require_order()
        except MemoryOrderError as error:
            problem = str(error)
    if problem and config.data_path == "ring":
        raise ConfigError(f"data_path='ring': {problem}")
    return not problem


def make_ring(name: str, ranks: int, depth: int) -> Memory:
    """Make the ring of a channel. Small items stand in its slots: the fewer of those, the larger they are."""
    least, most = _SLOT_BYTES
    slot_bytes = max(least, min(most, _ALL_SLOTS_BYTES // depth // 64 * 64))
    return Memory.make(name, Shape(ranks, depth, slot_bytes), None, Deadline(_MAKE_S, SYSTEM.monotonic))


def meetings(names: str, ranks: int) -> MakeMeeting | None:
    """Return what makes the channel of barriers whose ranks meet in shared memory. None: they are too many."""
    if ranks > MOST_RANKS:
        return None

    def make(place: Place, barriers: tuple[str, ...], ranks: int) -> MeetingChannel:
        name = f"{names}.{place.dp}.{place.protocol}"
        return MeetingChannel(
            place, barriers, ranks, name, partial(_make_meeting, name, MeetingShape(ranks, len(barriers)))
        )

    return make


def _make_meeting(name: str, shape: MeetingShape) -> Hall:
    return Hall.make(name, shape, None, Deadline(_MAKE_S, SYSTEM.monotonic))
