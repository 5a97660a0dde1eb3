"""How much memory a process has."""

from __future__ import annotations

from pathlib import Path

__all__ = ("memory_kib",)


def memory_kib(pid: int) -> int:
    """Return the memory that the process has for itself, in KiB: private pages that it has written.

    Pages that it shares, such as the interpreter's text, do not count; with them, the figure of one process would
    change with the number of others.
    """
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Private_Dirty:"):
            return int(line.split()[1])
    raise ValueError(f"process {pid} has no memory")
