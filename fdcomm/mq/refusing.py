"""What a handle answers that was closed, or came by fork."""

from __future__ import annotations

import threading

from fdcomm.errors import ClosedError, FdcommError, ForkedHandleError, WrongThreadError

__all__ = ("OneThread", "require_open")


def require_open(refusal: type[FdcommError] | None, operation: str, what: str) -> None:
    """Raise what the handle refuses with; None: it is open."""
    if refusal is ForkedHandleError:
        raise ForkedHandleError(
            f"{operation}: {what} came to this process by fork; open a new one here", operation=operation
        )
    if refusal is not None:
        raise ClosedError(f"{operation}: {what} was closed", operation=operation)


class OneThread:
    """The one thread that may use a handle: the first that does."""

    def __init__(self) -> None:
        self._thread: int | None = None

    def claim(self, operation: str, what: str) -> None:
        """Raise WrongThreadError if another thread uses the handle."""
        me = threading.get_ident()
        if self._thread is None:
            self._thread = me
        elif self._thread != me:
            raise WrongThreadError(
                f"{operation}: {what}: another thread uses this consumer, and would have its message taken for done; "
                "call rebind() to hand it over",
                operation=operation,
            )
