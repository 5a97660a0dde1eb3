"""Recorder of what a host did: one NDJSON line per action, numbered inside the critical section.

Off by default, and then free: the host holds None instead of a recorder. The numbers are a total order of one
channel's actions, so a trace needs no clock to be judged (``tla/dispatch/TraceDispatch.tla``, ``models.acceptance``).
``spec/trace.schema.json`` describes a line.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from typing import Any, Final

__all__ = ("BARRIER_EVENTS", "DISPATCH_EVENTS", "FORMAT", "Recorder", "read")

FORMAT: Final = 1

# Action names of spec/dispatch.toml that a host can see. Crash and CrashProducer are the environment's.
DISPATCH_EVENTS: Final = (
    "Join",
    "Leave",
    "Fence",
    "Connect",
    "Disconnect",
    "FenceProducer",
    "CallPut",
    "PutTasks",
    "PutLost",
    "PutTimeout",
    "GetTasks",
    "ClearRank",
    "ClearProducer",
)

# The same for spec/barrier.toml.
BARRIER_EVENTS: Final = (
    "Join",
    "Leave",
    "Fence",
    "Arrive",
    "Pass",
    "Mismatch",
    "Refuse",
    "Timeout",
    "Abort",
    "Reset",
)


class Recorder:
    """Appends events to a file (made 0600). One write call per event, so a killed host loses nothing it reported.

    ``record`` is called inside a channel's critical section. Channels share the file: O_APPEND keeps lines whole.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC
        self._fd = os.open(self.path, flags, 0o600)
        self._ended = False

    def write(self, event: Mapping[str, Any]) -> None:
        """Append one event."""
        if self._ended:
            return
        line = (json.dumps({"v": FORMAT, **event}, separators=(",", ":")) + "\n").encode()
        try:
            whole = os.write(self._fd, line) == len(line)
            reason = "no space left"
        except OSError as error:
            whole, reason = False, str(error.strerror)
        if not whole:
            # A full disk must not end the call that is being recorded: what it did is done.
            # The file stays open: another channel may be writing.
            self._ended = True
            with contextlib.suppress(OSError):
                os.write(2, f"fdcomm: the trace {self.path} ends here: {reason}\n".encode())

    def close(self) -> None:
        """Close the file. Idempotent."""
        self._ended = True
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def read(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Return the events of a trace file. A torn last line (a crash of the machine) is left out."""
    events: list[dict[str, Any]] = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.endswith("\n"):
                events.append(json.loads(line))
    return events
