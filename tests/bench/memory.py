"""How much memory a process has."""

from __future__ import annotations

from pathlib import Path

__all__ = ("anonymous_kib", "memory_kib")


def memory_kib(pid: int) -> int:
    """Return the memory that the process has for itself, in KiB: private pages that it has written.

    Pages that it shares, such as the interpreter's text, do not count; with them, the figure of one process would
    change with the number of others.
    """
    return _field(pid, "Private_Dirty")


def anonymous_kib(pid: int) -> int:
    """Return the memory of a process that is no file's, in KiB, whether a fork still shares its pages or not.

    What a forked process adds to it is new: a page that it only copies because it writes there has counted before.
    """
    return _field(pid, "Anonymous")


def _field(pid: int, name: str) -> int:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    raise ValueError(f"process {pid} has no memory")
