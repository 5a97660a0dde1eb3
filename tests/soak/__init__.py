"""Long runs of real processes with random losses, as commands that print figures; a short form of each is a test."""

from __future__ import annotations

__all__ = ("main",)


def main() -> None:
    """Do nothing: the program of a process that is forked and ends."""
