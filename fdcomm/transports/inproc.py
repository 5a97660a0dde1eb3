"""Transport to a service object in this very process: for tests, schedules and simulations."""

from __future__ import annotations

from typing import Any

from fdcomm.host.service import Hello, HostService, Welcome

__all__ = ("InprocTransport",)


class InprocTransport:
    """Calls the service directly."""

    def __init__(self, service: HostService) -> None:
        self._service = service
        self._session = 0
        self._closed = False

    def open_session(self, hello: Hello) -> Welcome:
        """See :class:`Transport`."""
        welcome = self._service.open_session(hello)
        self._session = welcome["session"]
        return welcome

    def call(self, method: str, *args: Any, timeout: float | None) -> Any:
        """See :class:`Transport`."""
        return getattr(self._service, method)(self._session, *args)

    def is_alive(self) -> bool:
        """See :class:`Transport`."""
        return not self._closed

    def close(self) -> None:
        """See :class:`Transport`."""
        self._closed = True
        self._service.close_session(self._session)

    def abandon(self) -> None:
        """See :class:`Transport`. The end of a process does the same to its connection."""
        self._closed = True
        self._service.lose_session(self._session)
