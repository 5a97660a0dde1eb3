"""What a way to broadcast batches has to offer to be measured."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, TypeAlias

__all__ = ("Batch", "Get", "Missing", "Subject", "imported")

Batch: TypeAlias = "list[Any]"
"""``[{"number": int, "kind": str}, bytes]``: what is put, and what each reader has to get, equal but its own."""

Get: TypeAlias = "Callable[[], Batch]"
"""Waits for this reader's next batch and returns it, unpickled."""


class Missing(Exception):
    """The package that a subject needs is not installed. The text says what to install."""


def imported(module: str, package: str) -> Any:
    """Return a module that only some have.

    Raises:
        Missing: It is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise Missing(f"{package} is not installed ({error})") from error


class Subject:
    """One way to broadcast. A subclass needs ``put`` and ``open_reader``; the rest has defaults.

    The order of calls: ``start`` in the writer's process; then the readers are forked; ``load`` and ``open_writer`` in
    the writer's; ``load`` and ``open_reader`` in each reader's; ``settle`` in the writer's; puts and gets; ``close`` in
    every process. Nothing of one subject runs while another is measured, except what it leaves running itself.

    Attributes:
        name: Key in the results.
        ranks: Number of readers, from ``start``.
        largest: Payload bytes of the largest batch, from ``start``.
        folder: A folder for sockets and the like. It goes with the subject, as do files of shared memory whose names
            begin with its name.
    """

    name = ""
    folder = ""
    ranks = 0
    largest = 0

    def check(self) -> None:
        """Raise Missing if this subject cannot run here. Called before anything else, in another process."""

    def about(self) -> str:
        """Return what readers of the results have to know: version, how it was installed, what stands in for what."""
        return ""

    def load(self) -> None:
        """Import what a client imports. Its time does not count as connecting; its memory counts as a client's."""

    def start(self, ranks: int, largest: int) -> None:
        """Make what the readers inherit. No threads: the process is forked afterwards."""
        self.ranks, self.largest = ranks, largest

    def open_writer(self) -> Any:
        """Open the writer's end; returns what the readers need to open theirs (it is pickled)."""
        return None

    def open_reader(self, rank: int, orders: Any) -> Get:
        """Open the end of a rank."""
        raise NotImplementedError

    def settle(self) -> None:
        """Wait until all readers are connected, where a reader that comes late would miss batches."""

    def put(self, batch: Batch) -> None:
        """Give the batch to every rank. May return before they have it, and has to wait where it must not run ahead."""
        raise NotImplementedError

    def helpers(self) -> list[int]:
        """Process ids, besides the writer's and the readers', whose processor time counts."""
        return []

    def close(self) -> None:
        """Let go of this process's end. The processes end right afterwards."""
