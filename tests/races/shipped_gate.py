"""The answers of all ranks as FastDeploy collects them, written anew from its description, for race tests.

A list, a list of flags, a lock and a number stand in the manager; a client changes them by one round trip each.
Nothing is corrected here. The three gates of a worker queue differ only in what an answer is and how N become one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from multiprocessing.managers import BaseManager, ListProxy, ValueProxy
from typing import Any

from tests.races.shipped import LOCK_PROXY, Address, Stuck

__all__ = ("ShippedGate", "combine_added", "combine_finished", "combine_responses")

_POLL_S = 0.001


class _Objects(BaseManager):
    """A client's view of the manager."""


for _name, _proxy in (
    ("get_answers", ListProxy),
    ("get_answer_flags", ListProxy),
    ("get_answer_lock", LOCK_PROXY),
    ("get_can_put", ValueProxy),
):
    _Objects.register(_name, proxytype=_proxy)


def combine_responses(answers: list[Any]) -> Any:
    """The first response, successful if all are."""
    first = answers[0]
    for answer in answers:
        first["success"] = first["success"] and answer["success"]
    return first


def combine_finished(answers: list[Any]) -> Any:
    """The first pair, with the status of one that failed."""
    first = answers[0]
    for answer in answers:
        if "error" in answer[1]:
            first[1] = answer[1]
    return [first]


def combine_added(answers: list[Any]) -> Any:
    """The list that all have put."""
    for answer in answers:
        assert answer == answers[0]
    return answers[0]


class ShippedGate:
    """A client of one gate.

    Args:
        address: Of the manager.
        key: Authentication key of the manager.
        client_id: Index of this client's flag.
        combine: How the answers become one.
        polls: Raise Stuck after this many polls of one call; as shipped, it polls for ever.
        lock_s: Raise Stuck after so many seconds without the lock; as shipped, it waits for ever.
    """

    def __init__(
        self,
        address: Address,
        key: bytes,
        client_id: int,
        combine: Callable[[list[Any]], Any],
        polls: int,
        lock_s: float,
    ) -> None:
        self.client_id = client_id
        self._combine = combine
        self._polls = polls
        self._lock_s = lock_s
        objects: Any = _Objects(address, key)
        objects.connect()
        self._answers: ListProxy[Any] = objects.get_answers()
        self._flags: ListProxy[int] = objects.get_answer_flags()
        self._lock: Any = objects.get_answer_lock()
        self._can_put: ValueProxy[int] = objects.get_can_put()

    def put(self, answer: Any) -> bool:
        """Wait until the gate is open, add the answer, raise the own flag; the last one closes the gate."""
        self._acquire("put")
        polls = 0
        while self._can_put.get() == 0:
            polls = self._poll("put", polls)
        self._answers.append(answer)
        self._flags[self.client_id] = 1
        all_put = self._all_flags()
        if all_put:
            self._can_put.set(0)
        self._lock.release()
        return all_put

    def put_first(self, items: list[Any]) -> bool:
        """The same for the first of some answers; the index is used with the lock held."""
        self._acquire("put")
        first = items[0]
        self._lock.release()
        return self.put(first)

    def get(self) -> Any:
        """None when there is no answer. With one, wait for all flags, combine, and open the gate again."""
        self._acquire("get")
        if len(self._answers) == 0:
            self._lock.release()
            return None
        polls = 0
        while not self._all_flags():
            polls = self._poll("get", polls)
        result = self._combine(list(self._answers))
        self._answers[:] = []
        self._flags[:] = [0] * len(self._flags)
        self._can_put.set(1)
        self._lock.release()
        return result

    def _poll(self, operation: str, polls: int) -> int:
        self._lock.release()
        if polls >= self._polls:
            raise Stuck(f"{operation} still polls after {polls} polls")
        time.sleep(_POLL_S)
        self._acquire(operation)
        return polls + 1

    def _all_flags(self) -> bool:
        return sum(self._flags) >= len(self._flags)

    def _acquire(self, operation: str) -> None:
        if not self._lock.acquire(True, self._lock_s):
            raise Stuck(f"{operation} has no lock after {self._lock_s} s")
