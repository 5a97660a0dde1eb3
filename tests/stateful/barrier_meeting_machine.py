"""The barrier's model beside barriers whose ranks meet in shared memory: the same machine, the same rules."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

from hypothesis import settings

from fdcomm import EngineCacheQueue
from tests.stateful.barrier_host_machine import Host, HostMachine
from tests.stateful.beside import run_machine

__all__ = ("run_meeting",)


class MeetingMachine(HostMachine):
    """Ranks in ``remote`` take part through the host."""

    channel = "barriers.to_cpu"
    remote: frozenset[int] = frozenset()

    def open(self, rank: int) -> EngineCacheQueue:
        remote = rank in type(self).remote
        queue = type(self).host.client(self.dp, rank, "host" if remote else "ring")
        if type(self).channel not in queue._welcome["meetings"]:
            raise AssertionError("the ranks do not meet in shared memory")
        return queue

    def number(self, rank: int, place: object) -> object:
        return rank

    def teardown(self) -> None:
        if hasattr(self, "handles"):
            for rank, handle in self.handles.items():
                assert rank in type(self).remote or handle._meetings, "it has waited through the host"
        super().teardown()


class _Alone(MeetingMachine):
    names: ClassVar[tuple[str, ...]] = ("barrier",)
    channel = "barriers.common"


def run_meeting(options: settings, remote: frozenset[int] = frozenset(), *, alone: bool = False) -> Counter[str]:
    """Run the machine; return how often each action was taken. ``alone``: at a barrier that is a group of its own."""
    host = Host(replicas=50 + 6 * options.max_examples, data_path="ring")
    try:

        class Machine(_Alone if alone else MeetingMachine):  # type: ignore[misc]
            pass

        Machine.host, Machine.remote = host, remote
        return run_machine(Machine, options)
    finally:
        host.close()
