"""Two machines, as network namespaces: each reaches only this one, where relays may stand between them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

__all__ = ("Machine", "NotPossible", "two_machines")


class NotPossible(Exception):
    """There can be no network namespaces here; the text says why."""


@dataclass(frozen=True)
class Machine:
    """A namespace, its address, and the address of this machine as it sees it."""

    name: str
    address: str
    gateway: str

    @property
    def prefix(self) -> tuple[str, ...]:
        """What runs a command there."""
        return ("ip", "netns", "exec", self.name)


def _ip(*arguments: str) -> None:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, timeout=30, check=False)
    if done.returncode:
        raise NotPossible(f"ip {' '.join(arguments)}: {done.stderr.strip()}")


@contextmanager
def two_machines() -> Iterator[tuple[Machine, Machine]]:
    """Make two machines that cannot reach each other.

    Raises:
        NotPossible: There are no tools, or no rights, for that.
    """
    if shutil.which("ip") is None:
        raise NotPossible("there is no command ip")
    own = os.getpid() % 16_384
    made: list[str] = []
    try:
        machines = []
        for number in (1, 2):
            name, here, there = f"fdc{own}n{number}", f"fdc{own}h{number}", f"fdc{own}t{number}"
            # One of 16384 pairs of networks of four addresses: sessions side by side do not meet.
            base = own * 8 + number * 4 - 4
            network = f"10.{200 + base // 65_536}.{base // 256 % 256}"
            gateway, address = f"{network}.{base % 256 + 1}", f"{network}.{base % 256 + 2}"
            _ip("netns", "add", name)
            made.append(name)
            _ip("link", "add", here, "type", "veth", "peer", "name", there, "netns", name)
            _ip("addr", "add", f"{gateway}/30", "dev", here)
            _ip("link", "set", here, "up")
            _ip("-n", name, "addr", "add", f"{address}/30", "dev", there)
            _ip("-n", name, "link", "set", there, "up")
            _ip("-n", name, "link", "set", "lo", "up")
            machines.append(Machine(name, address, gateway))
        yield machines[0], machines[1]
    finally:
        for name in made:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, timeout=30, check=False)
