"""Scenarios of block lists: the shipped steps, and ours with its threads over a port in memory."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fdcomm.blocks import BlockLists
from fdcomm.errors import ProtocolViolationError
from fdcomm.swap import Swap
from fdcomm.transfer_client import TransferClient
from tests.conformance.memory_port import MemoryPort
from tests.conformance.waiting import Background, until
from tests.races.one_process_race import OneProcessRace, name_of
from tests.races.pipes import WATCHDOG_S

__all__ = ("BlocksOurs", "BlocksRace", "name_of", "reset_waits_for_the_task")


class BlocksOurs:
    """The shipping lists and client, with their threads. The receiver can be stopped when it has taken a result."""

    def __init__(self, device: int = 2, host: int = 2) -> None:
        self.in_hand = threading.Event()
        self.go_on = threading.Event()
        self.go_on.set()
        self.port = MemoryPort(between=lambda: self.accepted())
        self.accepted: Callable[[], None] = lambda: None
        self.lists = BlockLists(device, host)
        self.client = TransferClient(self.port, self.lists)
        handle = self.client._receiver.handle

        def stopped(result: Any) -> None:
            self.in_hand.set()
            if not self.go_on.wait(WATCHDOG_S):
                raise TimeoutError("the receiver was not let go on")
            handle(result)

        self.client._receiver.handle = stopped  # type: ignore[method-assign]

    def swap_in(self) -> Swap:
        """Issue a task that brings a host block back to the device."""
        return self.client.issue("task", "swap", self.lists.allocate(1, "host"), self.lists.allocate())

    def reset(self, during: Callable[[], object] | None = None) -> Background:
        """Begin a reset."""
        begun = Background(lambda: self.client.reset(timeout=WATCHDOG_S, during=during))
        until(lambda: self.lists.statistics().phase == "resetting" or not begun.is_running())
        return begun

    def free(self) -> int:
        """Return how many blocks are free."""
        found = self.lists.statistics()
        return found.device_free + found.host_free

    def problem(self) -> str:
        """Return what is wrong with the lists, or ""."""
        try:
            self.lists.check()
        except ProtocolViolationError as error:
            return str(error)
        return ""

    def __enter__(self) -> BlocksOurs:
        return self

    def __exit__(self, *exc: object) -> None:
        self.go_on.set()
        self.client.close(timeout=WATCHDOG_S)


@dataclass(frozen=True)
class BlocksRace(OneProcessRace):
    """A race of block lists: one process, one order of steps. ``shipped`` gets nothing."""

    def on_ours(self) -> str:
        """Return what went wrong on ours."""
        with BlocksOurs() as variant:
            return self.ours(variant)


def reset_waits_for_the_task(variant: BlocksOurs) -> str:
    """A reset while a rank runs a task: it ends with the task, and the lists are whole afterwards."""
    variant.swap_in()
    number = variant.port.pull()
    resetting = variant.reset()
    if number is None or not resetting.is_running() or variant.lists.generation:
        return "the reset is over, and a task runs"
    variant.port.finish(number)
    resetting.value()
    return variant.problem() or ("" if variant.free() == 4 else f"{variant.free()} of 4 blocks are free")
