"""Rearrangements of one replica. Spec: ``spec/rearrange.toml``."""

from __future__ import annotations

from typing import Any

from fdcomm.deadline import Deadline
from fdcomm.host import rearrange_refusals as refusals
from fdcomm.host.rearrange_parties import PartyChannel

__all__ = ("RearrangeChannel",)


class RearrangeChannel(PartyChannel):
    """One request at a time, its coordinator, and the loader and the worker of every rank."""

    # -- whoever asks --------------------------------------------------------------------------------------------

    def request(self, session: int, addresses: tuple[str, ...], limit: float | None, operation: str) -> int:
        """Request (after Free, when the last one is done). ``limit``: seconds until the exchange must have begun.

        Raises:
            RearrangeBusyError: Another one is running.
        """
        with self._readable:
            self._begin(session, operation)
            core = self._core
            self._free()
            number = core.request(addresses)
            if not number:
                raise refusals.busy(operation, core)
            self._ends_at = None if limit is None else self._runtime.monotonic() + limit
            self._changed("Request", {"addresses": len(addresses)}, {"request": number})
            return number

    def update(self, session: int, request: int, operation: str) -> bool:
        """Update. False when the exchange was allowed before.

        Raises:
            RearrangeEndedError: The request is over.
            ProtocolViolationError: It is not loaded yet.
        """
        with self._readable:
            self._begin(session, operation)
            core = self._core
            if core.update(request):
                self._changed("Update")
                return True
            if request == core.request_number and core.phase == "UPDATING":
                return False
            raise self._unfit(operation, request, "not every rank has loaded")

    def wait(self, session: int, request: int, timeout: float | None, operation: str) -> dict[str, Any]:
        """Return the outcome of a request, waiting for its end."""
        with self._readable:
            self._begin(session, operation)
            core = self._core
            deadline = Deadline(timeout, self._runtime.monotonic)
            self._known(operation, request)
            while request not in core.outcomes:
                if request != core.request_number:
                    raise refusals.ended(operation, request, None)
                if deadline.expired():
                    raise refusals.wait_timeout(operation, request, core, deadline.waited())
                self._sleep(session, deadline, operation)
            return _plain(core.outcomes[request])

    def view(self, session: int, seen: int = -1, timeout: float | None = 0.0) -> dict[str, Any]:
        """Return a snapshot; with ``seen`` (the ``version`` of one) wait until there is another, or for ``timeout``."""
        with self._readable:
            self._begin(session, "view")
            deadline = Deadline(timeout, self._runtime.monotonic)
            while self._version == seen and not deadline.expired():
                self._sleep(session, deadline, "view")
            core = self._core
            last = core.outcomes.get(core.request_number)
            return {
                "version": self._version,
                "phase": core.phase,
                "request": core.request_number,
                "addresses": core.running.addresses,
                "unreached": core.lacking()[1],
                "load": tuple(core.load),
                "worker": tuple(core.worker),
                "exchanging": core.exchanging(),
                "outcome": None if last is None else _plain(last),
                "parties": tuple(sorted(core.live)),
            }

    # -- the coordinator -----------------------------------------------------------------------------------------

    def take(self, session: int, timeout: float | None, operation: str) -> tuple[int, tuple[str, ...]] | None:
        """Take: the number and the addresses of a request; None when there is none within the limit."""
        with self._readable:
            self._coordinate(session, operation)
            core = self._core
            deadline = Deadline(timeout, self._runtime.monotonic)
            while not core.take():
                if deadline.expired():
                    return None
                self._sleep(session, deadline, operation)
            self._changed("Take", {}, {"request": core.request_number})
            return core.request_number, core.running.addresses

    def begin_load(self, session: int, request: int, plan: bytes, operation: str) -> None:
        """BeginLoad."""
        with self._readable:
            self._coordinate(session, operation)
            if not self._core.begin_load(request, plan):
                raise self._unfit(operation, request, "the ranks were told before, or it was not taken")
            self._changed("BeginLoad")

    def peer(self, session: int, request: int, address: str, reason: str | None, operation: str) -> None:
        """PeerReady, or PeerFailed with a reason."""
        with self._readable:
            self._coordinate(session, operation)
            core = self._core
            here = request == core.request_number and address in core.running.addresses
            peer = {"peer": core.running.addresses.index(address) + 1} if here else {}
            done = core.peer_ready(request, address) if reason is None else core.peer_failed(request, address, reason)
            if not done:
                raise self._unfit(operation, request, f"{address!r} is no address of it that was waited for")
            self._changed("PeerReady" if reason is None else "PeerFailed", peer)

    def gather(self, session: int, request: int, timeout: float | None, operation: str) -> tuple[str, ...]:
        """Wait until all ranks have loaded; return the addresses of which nothing is known yet. A read."""
        with self._readable:
            self._coordinate(session, operation)
            core = self._core
            deadline = Deadline(timeout, self._runtime.monotonic)
            while True:
                if request != core.request_number or core.phase != "DOING":
                    raise self._unfit(operation, request, "it is not being loaded")
                missing, addresses = core.lacking()
                if not missing:
                    return addresses
                if deadline.expired():
                    raise refusals.not_loaded(operation, request, missing, addresses, deadline.waited())
                self._sleep(session, deadline, operation)

    def declare(self, session: int, request: int, reason: str | None, operation: str) -> None:
        """DeclareLoaded, or CallOff with a reason."""
        with self._readable:
            self._coordinate(session, operation)
            core = self._core
            if reason is None and core.declare_loaded(request):
                self._changed("DeclareLoaded")
            elif reason is not None and core.call_off(request, reason):
                self._changed("CallOff")
            elif reason is None and request == core.request_number and core.phase == "DOING":
                raise refusals.lacks(operation, request, *core.lacking())
            else:
                raise self._unfit(operation, request, "it is not being loaded")

    def free(self, session: int, operation: str) -> bool:
        """Free. False when nothing is done that was not looked at."""
        with self._readable:
            self._coordinate(session, operation)
            return self._free()

    # -- loaders -------------------------------------------------------------------------------------------------

    def take_load(self, session: int, timeout: float | None, operation: str) -> tuple[int, bytes] | None:
        """TakeLoad: the number of the request and the plan; None when there is nothing to load within the limit."""
        with self._readable:
            rank = self._act_for_rank(session, 0, operation)
            core = self._core
            deadline = Deadline(timeout, self._runtime.monotonic)
            while not core.take_load(rank):
                if deadline.expired():
                    return None
                self._sleep(session, deadline, operation)
            self._changed("TakeLoad", {"rank": rank}, {"request": core.request_number})
            return core.request_number, core.running.plan

    def report(self, session: int, request: int, reason: str | None, operation: str) -> None:
        """ReportOk, or ReportFailed with a reason.

        Raises:
            RearrangeEndedError: RefuseReport: the request is over. The report counts for no other one.
        """
        with self._readable:
            rank = self._act_for_rank(session, 0, operation)
            core = self._core
            if core.refuse_report(rank, request):
                raise self._unfit(operation, request, "this rank has taken no load of it, or has reported")
            if reason is None:
                core.report_ok(rank, request)
            else:
                core.report_failed(rank, request, reason)
            self._changed("ReportOk" if reason is None else "ReportFailed", {"rank": rank})

    # -- workers -------------------------------------------------------------------------------------------------

    def take_update(self, session: int, timeout: float | None, operation: str) -> int:
        """Arrive, then wait until all workers have: returns the number of the request; 0 when there is no exchange.

        Raises:
            CommTimeoutError: Withdraw: the others did not come within the limit.
            RearrangeEndedError: The request ended while this worker waited.
        """
        with self._readable:
            rank = self._act_for_rank(session, self._core.ranks, operation)
            core = self._core
            deadline = Deadline(timeout, self._runtime.monotonic)
            number, at = core.request_number, core.worker[rank]
            if core.phase != "UPDATING" or at == "done":
                return 0
            if not core.arrive(rank):
                what = "this rank's worker waits in another call" if at == "here" else "call updated() first"
                raise refusals.not_now(operation, number, core.phase, what)
            self._changed("Arrive", {"rank": rank}, {"begun": core.exchanging()})
            while core.request_number == number and core.worker[rank] == "here":
                if deadline.expired():
                    missing = tuple(other for other, worker in enumerate(core.worker) if worker == "idle")
                    core.withdraw(rank)
                    self._changed("Withdraw", {"rank": rank})
                    raise refusals.workers_missing(operation, number, missing, deadline.waited())
                self._sleep(session, deadline, operation)
            if core.request_number != number or core.worker[rank] != "swap":
                raise refusals.ended(operation, number, core.outcomes.get(number))
            return number

    def updated(self, session: int, request: int, operation: str) -> None:
        """Updated."""
        with self._readable:
            rank = self._act_for_rank(session, self._core.ranks, operation)
            if not self._core.updated(rank, request):
                raise self._unfit(operation, request, "this rank's worker exchanges no weights for it")
            self._changed("Updated", {"rank": rank})

    # -- statistics: values that belong to the ranks, each replaced as a whole -----------------------------------

    def put_stats(self, session: int, stats: bytes, operation: str) -> None:
        """Replace what a rank has counted."""
        with self._readable:
            member = self._begin(session, operation)
            self._stats[self._rank_of(member, operation)] = stats

    def stats(self, session: int, operation: str) -> list[bytes]:
        """Return what every rank has counted, b"" for those that have said nothing."""
        with self._readable:
            self._begin(session, operation)
            return list(self._stats)


def _plain(outcome: Any) -> dict[str, Any]:
    return {name: getattr(outcome, name) for name in ("request", "what", "reason", "ranks", "missing", "addresses")}
