"""Many requests of several client processes that are killed at random: what became of each result."""

from __future__ import annotations

import json
import random
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import zmq

from fdcomm import FdcommError, UndeliverableError, ZmqIpcServer
from fdcomm.mailbox.values import Undelivered
from tests.races.nursery import Born, born
from tests.races.pipes import WATCHDOG_S

__all__ = ("Figures", "run_many")


@dataclass
class Figures:
    """Requests: those that the server has got. Results of killed clients may have died with them."""

    requests: int = 0
    done: int = 0
    of_killed: int = 0
    undeliverable: int = 0
    killed: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    wrong: list[Any] = field(default_factory=list)


class _Client:
    """A client process, and what it has said."""

    def __init__(self, name: str, who: str, seed: int, count: int) -> None:
        self.who = who
        self.process: Born = born("tests.multiproc.mailbox_child", "many", name, who, str(seed), str(count))
        self.killed = False
        self.text = b""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while chunk := self.process.stdout.read(65536):
            self.text += chunk

    def kill(self) -> None:
        """SIGKILL."""
        self.killed = True
        self.process.kill()

    def ended(self) -> list[list[Any]]:
        """Wait for the end; return what it has said."""

        self.process.wait(WATCHDOG_S)
        self._reader.join(WATCHDOG_S)
        self.process.stdin.close()
        self.process.stdout.close()
        return [json.loads(line) for line in self.text.split(b"\n")[:-1] if line.endswith(b"]")]


@contextmanager
def _servers(name: str, lost: list[Undelivered]) -> Iterator[tuple[ZmqIpcServer, ZmqIpcServer]]:
    with ZmqIpcServer(name, zmq.PULL) as pull, ZmqIpcServer(name, zmq.ROUTER, undelivered=lost.append) as router:
        handles = threading.Thread(target=router.recv_result_handle)
        handles.start()
        try:
            yield pull, router
        finally:
            router.close()
            handles.join(WATCHDOG_S)


def run_many(name: str, seed: int, requests: int, clients: int, kills: int) -> Figures:
    """Have clients ask ``requests`` requests in all, kill some of them at random, and start others instead."""
    rng = random.Random(seed)
    each = requests // clients
    lost: list[Undelivered] = []
    figures = Figures()
    of_requests: dict[str, int] = {}
    started = [_Client(name, f"c{number}", seed, each) for number in range(clients)]
    living = list(started)
    deaths = sorted(rng.sample(range(each // 2, max(each, requests - each)), kills))
    with _servers(name, lost) as (pull, router):
        while True:
            error, request = pull.receive_pyobj_once(True, timeout=0.2)
            if error is not None:
                raise RuntimeError(error)
            if request is None:
                if not any(_runs(client) for client in living):
                    break
                continue
            of_requests[request["id"]] = request["results"]
            _answer(router, request, figures)
            if deaths and len(of_requests) >= deaths[0]:
                deaths.pop(0)
                victim = living.pop(rng.randrange(len(living)))
                victim.kill()
                figures.killed += 1
                living.append(_Client(name, f"{victim.who}x", seed, each // 2))
                started.append(living[-1])
    figures.requests = len(of_requests)
    _judge(figures, started, of_requests, lost)
    return figures


def _runs(client: _Client) -> bool:
    try:
        client.process.wait(0.0)
    except TimeoutError:
        return True
    return False


def _answer(router: ZmqIpcServer, request: dict[str, Any], figures: Figures) -> None:
    for number in range(1, request["results"] + 1):
        result = {"id": request["id"], "n": number, "finished": number == request["results"]}
        try:
            router.send_response(request["id"], [result])
        except FdcommError as error:
            figures.errors[type(error).__name__] += 1
            if not isinstance(error, UndeliverableError):
                figures.wrong.append(f"{request}: {error!r}")
            return


def _judge(figures: Figures, clients: list[_Client], results: dict[str, int], lost: list[Undelivered]) -> None:
    done: Counter[str] = Counter()
    killed = {client.who for client in clients if client.killed}
    for client in clients:
        for what, *about in client.ended():
            if what == "done":
                done[about[0]] += 1
                if results[about[0]] != about[1] or about[0].rpartition("-")[0] != client.who:
                    figures.wrong.append((client.who, about))
            elif not (what == "missing" and client.killed):
                figures.wrong.append((client.who, what, about))
    # What a killed client has not asked for is kept until the close, which tells it.
    undeliverable = {one.request for one in lost}
    figures.wrong += [one for one in lost if one.request.rpartition("-")[0] not in killed]
    for request in results:
        ended = done[request] == 1
        if ended:
            figures.done += 1
        elif request in undeliverable:
            figures.undeliverable += 1
        elif request.rpartition("-")[0] in killed:
            figures.of_killed += 1
        if done[request] > 1 or (not ended and request.rpartition("-")[0] not in killed):
            figures.wrong.append((request, done[request]))
