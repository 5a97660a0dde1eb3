"""What a forked child is told that uses its parent's handles."""

from __future__ import annotations

import os
from collections.abc import Callable

from fdcomm import ForkedHandleError

__all__ = ("refused_in_a_child",)


def refused_in_a_child(*calls: Callable[[], object]) -> int:
    """Make the calls in a forked child; return how many raised ForkedHandleError."""
    mine, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        refused = 0
        try:
            for call in calls:
                try:
                    call()
                except ForkedHandleError:
                    refused += 1
            os.write(theirs, b"%d" % refused)
        finally:
            os._exit(0)
    os.close(theirs)
    with os.fdopen(mine) as answer:
        told = answer.read()
    os.waitpid(pid, 0)
    return int(told)
