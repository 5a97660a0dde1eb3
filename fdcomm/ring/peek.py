"""Copies of what a ring holds, for who only looks. What is taken back or taken by all meanwhile is left out."""

from __future__ import annotations

from fdcomm.deadline import Deadline
from fdcomm.ring.contents import Contents
from fdcomm.ring.look import Look
from fdcomm.ring.memory import Memory

__all__ = ("peek",)


def peek(memory: Memory, look: Look, deadline: Deadline) -> list[tuple[bytes, int]]:
    """Return each retained message's payload, and how many buffers stand beside its stream; oldest first."""
    found = []
    contents = Contents(memory)
    try:
        for number in look.numbers():
            payload = contents.of(look.slot(number), lambda: deadline)
            if payload is None:
                continue
            copied = payload.nbytes.tobytes()
            if look.is_there(number) and number >= look.oldest() > 0:
                found.append((copied, payload.parts))
        return found
    finally:
        contents.close()
