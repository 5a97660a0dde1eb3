"""Barriers as FastDeploy uses them: plain barriers of the standard library in a manager, used through their proxies.

The manager is an interpreter of its own (``python -m tests.races.shipped_barrier serve``) and ends with its owner. A
rank that is to be killed is one too (``... wait``). Written anew from the description of the steps. Beside it, a
barrier on a shared dictionary whose keys have no round (race B23).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from multiprocessing import managers
from multiprocessing.managers import BaseManager, DictProxy
from typing import Any

from tests.races.pipes import ROOT, read_line

__all__ = ("ShippedBarriers", "StoreBarrier")

NAMES = ("barrier0", "barrier1")
_PROXY: Any = vars(managers)["BarrierProxy"]  # the standard library has it, its type stubs do not
_SHOWN = ("wait", "reset", "abort", "waiting")


class _Watched(threading.Barrier):
    """A barrier that says how many wait, so that a test can wait for that."""

    def waiting(self) -> int:
        return self.n_waiting


class _Objects(BaseManager):
    """A client's view of the manager."""


for _name in NAMES:
    _Objects.register(f"get_{_name}", proxytype=_PROXY)
_Objects.register("get_store", proxytype=DictProxy)


def _connect(address: str, key: str) -> Any:
    objects: Any = _Objects(address, bytes.fromhex(key))
    objects.connect()
    return objects


class ShippedBarriers:
    """A running manager, and one client of it. Threads have connections of their own, as the proxies make them."""

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        self._key = os.urandom(16).hex()
        self._folder = tempfile.mkdtemp(prefix="fdcomm-shipped-", dir="/tmp")
        self._children: list[subprocess.Popen[bytes]] = []
        try:
            place = os.path.join(self._folder, "manager.sock")
            self.address: str = self._child("serve", {"ranks": ranks, "address": place, "key": self._key})[1]
            objects = _connect(self.address, self._key)
            self._proxies = {name: getattr(objects, f"get_{name}")() for name in NAMES}
            self.store: Any = objects.get_store()
        except BaseException:
            self.stop()
            raise

    def wait(self, name: str) -> None:
        """Wait. The barrier does not ask who."""
        self._proxies[name].wait()

    def reset(self, name: str) -> None:
        """Reset."""
        self._proxies[name].reset()

    def abort(self, name: str) -> None:
        """Abort."""
        self._proxies[name].abort()

    def waiting(self, name: str) -> int:
        """Return how many wait. Not in the shipped use: tests wait for it."""
        count: int = self._proxies[name]._callmethod("waiting")
        return count

    def waiter(self, name: str) -> subprocess.Popen[bytes]:
        """Start a process that waits at a barrier; return it when it is about to."""
        return self._child("wait", {"address": self.address, "key": self._key, "barrier": name})[0]

    def stop(self) -> None:
        """End all processes."""
        for child in reversed(self._children):
            child.kill()
            child.wait()
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    pipe.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _child(self, what: str, orders: dict[str, Any]) -> tuple[subprocess.Popen[bytes], Any]:
        child = subprocess.Popen(
            [sys.executable, "-m", "tests.races.shipped_barrier", what],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            cwd=ROOT,
        )
        self._children.append(child)
        assert child.stdin is not None
        child.stdin.write(json.dumps(orders).encode() + b"\n")
        return child, read_line(child)


class StoreBarrier:
    """Counts arrivals under a key, and sets a marker when the last has come; neither key has a round."""

    def __init__(self, store: Any, ranks: int) -> None:
        self._store = store
        self._ranks = ranks

    def arrive(self) -> None:
        """Count; whoever makes the count full sets the marker."""
        count = self._store.get("count", 0) + 1
        self._store["count"] = count
        if count == self._ranks:
            self._store["marker"] = True

    def may_go(self) -> bool:
        """Look for the marker, as a waiting rank does again and again."""
        return bool(self._store.get("marker", False))


def _serve(orders: dict[str, Any]) -> None:
    barriers = {name: _Watched(orders["ranks"]) for name in NAMES}
    store: dict[str, Any] = {}

    class Manager(BaseManager):
        pass

    for name, barrier in barriers.items():
        Manager.register(f"get_{name}", callable=lambda barrier=barrier: barrier, proxytype=_PROXY, exposed=_SHOWN)
    Manager.register("get_store", callable=lambda: store, proxytype=DictProxy)
    server = Manager(orders["address"], bytes.fromhex(orders["key"])).get_server()
    threading.Thread(target=_end_with_owner, daemon=True).start()
    print(json.dumps(server.address), flush=True)
    server.serve_forever()


def _wait(orders: dict[str, Any]) -> None:
    barrier = getattr(_connect(orders["address"], orders["key"]), f"get_{orders['barrier']}")()
    print(json.dumps("ready"), flush=True)
    barrier.wait()


def _end_with_owner() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    (_serve if sys.argv[1] == "serve" else _wait)(json.loads(sys.stdin.buffer.readline()))
