"""Signals in a folder of their own, for tests: short calls, and everything is let go of at the end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fdcomm import IPCSignal
from fdcomm.deadline import Deadline
from fdcomm.runtime import SYSTEM
from fdcomm.signals.files import Files
from fdcomm.signals.layout import Layout, OwnerInfo, this_process
from fdcomm.signals.segment import Segment
from fdcomm.signals.steps import Plan, create, drive

__all__ = ("Signals", "descriptors", "mappings")


class Signals:
    """Makes and attaches int32 signals in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._made: list[IPCSignal] = []
        self._elsewhere: list[Segment] = []

    def create(self, values: Sequence[int], name: str = "a", **options: Any) -> Any:
        """Make a signal with these values."""
        array = np.array(values, np.int32)
        return self.keep(IPCSignal(name, array, np.int32, directory=str(self.folder), **options))

    def attach(self, template: Sequence[int], name: str = "a", **options: Any) -> Any:
        """Attach to one."""
        array = np.array(template, np.int32)
        return IPCSignal(name, array, np.int32, create=False, directory=str(self.folder), **options)

    def create_elsewhere(self, values: Sequence[int], name: str = "a") -> Segment:
        """Make one as another process would that is called 7: its lock is held by descriptors that are not ours."""
        content = np.array(values, np.int32)
        layout = Layout("<i4", content.shape, content.nbytes)
        me = this_process()

        def fill(data: memoryview) -> None:
            data[:] = content.tobytes()

        plan = Plan(name, layout, fill, OwnerInfo(7, 1, me.boot_id, me.pid_namespace))
        steps = create(Files(str(self.folder)), plan, SYSTEM)
        segment = drive("create", steps, SYSTEM, Deadline(10.0, SYSTEM.monotonic))
        self._elsewhere.append(segment)
        return segment

    def keep(self, signal: IPCSignal) -> IPCSignal:
        """Clear it at the end."""
        self._made.append(signal)
        return signal

    def forget(self) -> None:
        """Drop the handles that were kept."""
        self._made.clear()

    def end(self) -> None:
        """Clear and close everything."""
        for signal in self._made:
            signal.clear()
        for segment in self._elsewhere:
            segment.close()
        self._made.clear()


def descriptors() -> set[tuple[int, str]]:
    """Return the open descriptors of this process: number and what it leads to."""
    found = set()
    for entry in Path("/proc/self/fd").iterdir():
        try:
            found.add((int(entry.name), str(entry.readlink())))
        except OSError:  # the one that lists the folder
            continue
    return found


def mappings(folder: Path) -> int:
    """Return how many mappings of files in the folder this process has."""
    return Path("/proc/self/maps").read_text().count(f" {folder}/")
