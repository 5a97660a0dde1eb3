"""What stands in the place of shared memory that a handle has let go of."""

from __future__ import annotations

from typing import Any

from fdcomm.errors import ClosedError, FdcommError, ForkedHandleError

__all__ = ("Gone",)


class Gone:
    """Raises at every use. It refers to nothing of the memory, which goes with its last user, and not later.

    Args:
        what: Kind and name of what is gone.
        forked: It came to this process by a fork.
    """

    def __init__(self, what: str, *, forked: bool) -> None:
        self._what = what
        self._forked = forked

    def __getitem__(self, place: Any, /) -> Any:
        raise self._error()

    def __setitem__(self, place: Any, value: Any, /) -> None:
        raise self._error()

    def _error(self) -> FdcommError:
        if self._forked:
            return ForkedHandleError(f"this handle on {self._what} was made in another process; open a new one")
        return ClosedError(f"{self._what} is closed")
