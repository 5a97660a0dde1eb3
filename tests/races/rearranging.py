"""Both variants of a rearrangement for the scenarios of its races: the shipped words, and ours over a real host."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass

from fdcomm import EngineWorkerQueue, RearrangeControl
from tests.races.race import Race
from tests.races.shipped_rearrange import Loader, Manager, Page, Requester, Worker

__all__ = ("FEW_S", "Group", "Words", "rearrange_race")

FEW_S = 0.02
"""Limit of one of our calls that is expected to end by it."""


class Words:
    """The shipped variant: a page of words and who uses it, in this process. A hook stops one between two words."""

    def __init__(self, ranks: int = 2) -> None:
        self.page = Page(ranks)
        self.loaders = [Loader(self.page, rank) for rank in range(ranks)]
        self.workers = [Worker(self.page, loader) for loader in self.loaders]
        self.manager = Manager(self.page, self.loaders)
        self.requester = Requester(self.page)


class Group:
    """Our variant: a real host, and a handle for each party."""

    def __init__(self, ranks: int = 2) -> None:
        self.ranks = ranks
        self._stack = contextlib.ExitStack()
        self.server = self._stack.enter_context(EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=ranks))
        self.requester, self.coordinator = self.open(0), self.open(0)
        self.loaders = [self.open(rank) for rank in range(ranks)]
        self.workers = [self.open(rank) for rank in range(ranks)]

    def open(self, rank: int) -> RearrangeControl:
        """Open a handle."""
        address = ("0.0.0.0", self.server.get_server_port())
        return self._stack.enter_context(RearrangeControl(address, num_client=self.ranks, client_id=rank))

    def begin(self, plan: object = "plan", addresses: tuple[str, ...] = (), limit: float = 60.0) -> int:
        """Bring a request to the point at which the ranks load."""
        number = self.requester.request(addresses, limit=limit)
        taken = self.coordinator.take()
        assert taken == (number, addresses)
        self.coordinator.begin_load(number, plan)
        return number

    def load(self, number: int) -> None:
        """Every rank loads, and the coordinator declares it."""
        for loader in self.loaders:
            assert loader.take_load(1.0) is not None
            loader.report(number)
        self.coordinator.declare_loaded(number)

    def exchange(self, number: int) -> None:
        """Every rank exchanges its weights."""
        self.requester.update(number)
        for worker, got in zip(self.workers, self.meet(), strict=True):
            assert got == number
            worker.updated(number)

    def exchange_all(self) -> int:
        """A whole rearrangement."""
        number = self.begin("first")
        self.load(number)
        self.exchange(number)
        assert self.requester.wait(number).ok
        return number

    def lose(self, handle: RearrangeControl) -> None:
        """End a handle as the end of its process would: without a goodbye."""
        handle._release(goodbye=False)

    def meet(self) -> list[object]:
        """The workers of all ranks meet; return what each is told."""
        told: list[object] = [None] * self.ranks

        def come(rank: int) -> None:
            try:
                told[rank] = self.workers[rank].take_update(30.0)
            except Exception as error:  # noqa: BLE001 - the scenario looks at it
                told[rank] = error

        threads = [threading.Thread(target=come, args=(rank,)) for rank in range(self.ranks)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60.0)
        return told

    def __enter__(self) -> Group:
        return self

    def __exit__(self, *exc: object) -> None:
        self._stack.close()


@dataclass(frozen=True)
class _RearrangeRace(Race):
    words: Callable[[Words], str] = lambda words: ""
    group: Callable[[Group], str] = lambda group: ""

    def on_shipped(self) -> str:
        """Return what went wrong on the shipped protocol."""
        words = Words(self.ranks)
        try:
            return self.words(words)
        finally:
            words.page.close()

    def on_ours(self) -> str:
        """Return what went wrong on ours."""
        with Group(self.ranks) as group:
            return self.group(group)


def _elsewhere(variant: object) -> str:
    raise AssertionError(f"a scenario of rearrangements does not run on {variant}")


def rearrange_race(
    ids: tuple[str, ...],
    shipped: Callable[[Words], str],
    ours: Callable[[Group], str],
    symptom: str,
    ranks: int = 2,
) -> Race:
    """Return a race whose scenarios run on the variants of this module."""
    return _RearrangeRace(ids, _elsewhere, _elsewhere, symptom, ranks, words=shipped, group=ours)
