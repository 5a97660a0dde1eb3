"""What a public class needs from a transport."""

from __future__ import annotations

from typing import Any, Protocol

from fdcomm.host.service import Hello, Welcome

__all__ = ("REPLY_GRACE_S", "Transport")

REPLY_GRACE_S = 10.0
"""Seconds beyond a call's own time limit after which a host that has not answered counts as lost."""


class Transport(Protocol):
    """A way to one host, for one handle. Safe to use from several threads."""

    def open_session(self, hello: Hello) -> Welcome:
        """Open the handle's session. Once."""

    def call(self, method: str, *args: Any, timeout: float | None) -> Any:
        """Call a method of the host's service with the session as its first argument.

        ``timeout`` is the call's own limit in seconds (None: for ever); the transport adds a grace period, and then
        raises HostLostError.
        """

    def is_alive(self) -> bool:
        """Return False once the host is known to be gone. Never waits."""

    def close(self) -> None:
        """Say goodbye and close. Idempotent, bounded."""

    def abandon(self) -> None:
        """End the connections without a goodbye: the host then fences the session. Idempotent, never waits."""
