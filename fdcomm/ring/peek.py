"""Copies of what a ring holds, for who only looks. What is taken back or taken by all meanwhile is left out."""

from __future__ import annotations

from fdcomm.deadline import Deadline
from fdcomm.ring.layout import FORM, LENGTH, PARTS, SIZE
from fdcomm.ring.look import Look
from fdcomm.ring.memory import Memory
from fdcomm.ring.overflow import Mapped

__all__ = ("peek",)


def peek(memory: Memory, look: Look, deadline: Deadline) -> list[tuple[bytes, int]]:
    """Return each retained message's payload, and how many buffers stand beside its stream; oldest first."""
    words, found = memory.board.words, []
    mapped = Mapped(memory)
    try:
        for number in look.numbers():
            slot = look.slot(number)
            place = memory.shape.of_slot(slot)
            size, segment, parts, length = (words[place + word] for word in (SIZE, FORM, PARTS, LENGTH))
            if size >= 0:
                parts, copied = 0, memory.payloads[slot][:size].tobytes()
            elif not segment:
                copied = memory.payloads[slot][:length].tobytes()
            else:
                view = mapped.view(segment, deadline)
                if view is None:
                    continue
                copied = view[:length].tobytes()
                del view
            if look.is_there(number) and number >= look.oldest() > 0:
                found.append((copied, parts))
        return found
    finally:
        mapped.close()
