"""A rearrangement whose parties are handles of this process, of which one may be in a process that is killed."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

from fdcomm import EngineWorkerQueue, RearrangeControl
from tests.faults.remote import LIMIT_S, Remote, until

__all__ = ("WAY", "Group", "RemoteControl", "opened")

RANKS = 2
ADDRESS = "10.0.0.2:8000"


class RemoteControl:
    """A handle in another process, with the calls of ``RearrangeControl`` that a party makes."""

    def __init__(self, port: int, rank: int) -> None:
        self.remote = Remote()
        self.remote.ask("open", address=["0.0.0.0", port], queue="RearrangeControl", num_client=RANKS, client_id=rank)
        self.remote.call("status")  # the thread's own connection is there

    def __getattr__(self, method: str) -> Callable[..., Any]:
        return lambda *args, **kwargs: self.remote.call(method, *args, **kwargs)

    def close(self) -> None:
        """End the process, and let go of its pipes."""
        self.remote.__exit__(None, None, None)


class Group:
    """Parties by name; those in ``remote`` are processes of their own."""

    def __init__(self, port: int, *remote: str) -> None:
        names = [
            "requester",
            "coordinator",
            *(f"{kind} {rank}" for kind in ("loader", "worker") for rank in range(RANKS)),
        ]
        self.port = port
        self.of: dict[str, Any] = {}
        for name in names:
            rank = int(name[-1]) if name[-1].isdigit() else 0
            self.of[name] = RemoteControl(port, rank) if name in remote else self.open(rank)
        self.observer = self.open(0)
        self.number = 0
        self.waits: list[threading.Thread] = []
        self.told: dict[int, object] = {}

    def open(self, rank: int) -> RearrangeControl:
        """Open a handle of this process."""
        return RearrangeControl(("0.0.0.0", self.port), num_client=RANKS, client_id=rank)

    def meet(self, rank: int) -> None:
        """A worker comes to exchange its weights; return when the host has seen it."""

        def come() -> None:
            try:
                self.told[rank] = self.of[f"worker {rank}"].take_update(LIMIT_S)
            except Exception as error:  # noqa: BLE001 - the test looks at it
                self.told[rank] = error

        self.waits.append(threading.Thread(target=come, daemon=True))
        self.waits[-1].start()
        until(lambda: self.observer.status().worker[rank] in ("here", "swap"), f"worker {rank} comes")

    def told_all(self) -> dict[int, object]:
        """Wait until every worker that came has been told, and return what."""
        for wait in self.waits:
            wait.join(LIMIT_S)
            assert not wait.is_alive()
        return self.told

    def kill(self, name: str) -> None:
        """SIGKILL, and return when the host has seen it."""
        before = self.observer.status().parties
        self.of[name].remote.kill()
        until(lambda: self.observer.status().parties != before, "the host sees the end")

    def close(self) -> None:
        """Close everything."""
        for handle in (*self.of.values(), self.observer):
            handle.close()


def _step(name: str, call: Callable[[Group, Any], Any]) -> Callable[[Group], None]:
    def step(group: Group) -> None:
        call(group, group.of[name])

    return step


def _request(group: Group, requester: Any) -> None:
    group.number = requester.request([ADDRESS])


def _claim(group: Group) -> None:
    """Every loader and worker looks once, so that its end will be noticed."""
    for rank in range(RANKS):
        assert group.of[f"loader {rank}"].take_load() is None
        assert group.of[f"worker {rank}"].take_update() is None


def _updated_0(group: Group) -> None:
    group.told_all()
    group.of["worker 0"].updated(group.number)


# A rearrangement as steps, each of one party.
WAY: list[tuple[str, Callable[[Group], None]]] = [
    ("all have looked", _claim),
    ("requested", _step("requester", _request)),
    ("taken", _step("coordinator", lambda g, c: c.take(LIMIT_S))),
    ("begun", _step("coordinator", lambda g, c: c.begin_load(g.number, "plan"))),
    ("load 0 taken", _step("loader 0", lambda g, c: c.take_load(LIMIT_S))),
    ("load 1 taken", _step("loader 1", lambda g, c: c.take_load(LIMIT_S))),
    ("load 0 reported", _step("loader 0", lambda g, c: c.report(g.number))),
    ("load 1 reported", _step("loader 1", lambda g, c: c.report(g.number))),
    ("address ready", _step("coordinator", lambda g, c: c.peer_ready(g.number, ADDRESS))),
    ("declared", _step("coordinator", lambda g, c: c.declare_loaded(g.number))),
    ("update allowed", _step("requester", lambda g, a: a.update(g.number))),
    ("worker 0 here", lambda g: g.meet(0)),
    ("worker 1 here", lambda g: g.meet(1)),
    ("worker 0 done", _updated_0),
    ("worker 1 done", _step("worker 1", lambda g, c: c.updated(g.number))),
]


@contextlib.contextmanager
def opened(host: EngineWorkerQueue, *remote: str) -> Iterator[Group]:
    """A group; afterwards a request is served as ever."""
    group = Group(host.get_server_port(), *remote)
    try:
        yield group
    finally:
        group.close()
    group = Group(host.get_server_port())
    try:
        for _, step in WAY:
            step(group)
        assert group.observer.wait(group.number).ok
    finally:
        group.close()
