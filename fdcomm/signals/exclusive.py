"""Changes that depend on the value before: one at a time, under a lock that the kernel frees at its holder's death.

``value[0] += 1`` on shared memory is a load and a store, and what another process stores between the two is lost.
"""

from __future__ import annotations

from collections.abc import Callable

from fdcomm.deadline import Deadline
from fdcomm.signals.access import WORDS, Access

__all__ = ("change",)


def change(
    access: Access,
    load: Callable[[], int],
    store: Callable[[int], None],
    new: Callable[[int], int | None],
    deadline: Deadline,
    operation: str,
) -> int:
    """Load the value, store what ``new`` makes of it (None: nothing), and return the value before.

    It is one store: whoever is killed before it has changed nothing, and after it everything.
    """
    with access.exclusive(WORDS, deadline, operation):
        access.runtime.point(f"word.{operation}.locked")
        old = load()
        value = new(old)
        if value is not None:
            access.runtime.point(f"word.{operation}.loaded")
            store(value)
            access.runtime.point(f"word.{operation}.stored")
    return old
