"""Which queues go through rings in shared memory, and how a host makes them."""

from __future__ import annotations

from typing import Final

from fdcomm.deadline import Deadline
from fdcomm.errors import ConfigError, MemoryOrderError
from fdcomm.host.service import HostConfig
from fdcomm.ring.layout import Shape
from fdcomm.ring.memory import Memory, require_order
from fdcomm.runtime import SYSTEM

__all__ = ("MOST_SLOTS", "goes_through_rings", "make_ring")

MOST_SLOTS: Final = 4096
_ALL_SLOTS_BYTES: Final = 1 << 22
_SLOT_BYTES: Final = (1024, 65536)
_MAKE_S: Final = 10.0


def goes_through_rings(config: HostConfig, *, traced: bool) -> bool:
    """Return whether this host's items go through shared memory.

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
