"""How much memory a process has."""

from __future__ import annotations

from pathlib import Path

__all__ = ("memory_kib",)


def memory_kib(pid: int) -> int:
    """Return the process's proportional set size in KiB: its own pages, and its share of those it shares."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    raise ValueError(f"process {pid} has no memory")
