"""The rearrange protocol as a pure object: one request at a time, every rank loads, all exchange weights together.

One method per action of ``spec/rearrange.toml`` (``tla/rearrange/Rearrange.tla``). The loader of rank r is party r,
its worker is party ``ranks + r``, the coordinator is party ``2 * ranks``. Everything that is about a request is keyed
by its number, so that a word about an older one counts for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fdcomm.errors import ConfigError, ProtocolViolationError, RankError

__all__ = ("Outcome", "Rearrange")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a request ended.

    Attributes:
        request: Its number.
        what: "done", "failed", "lost" (a party is gone) or "late" (its time limit).
        reason: In words, "" when it is done.
        ranks: Of each rank what is known: "ok" when it has loaded or exchanged its weights, else what it lacked.
        missing: The ranks or
        addresses: whose part was missing.
    """

    request: int
    what: str
    reason: str
    ranks: tuple[str, ...]
    missing: tuple[int, ...] = ()
    addresses: tuple[str, ...] = ()


@dataclass(slots=True)
class _Running:
    """What is known of the running request."""

    addresses: tuple[str, ...] = ()
    plan: bytes = b""
    reached: set[str] = field(default_factory=set)


class Rearrange:
    """Rearrangements of ``ranks`` ranks.

    Args:
        ranks: Number of ranks.
        kept: How many outcomes are remembered.
    """

    def __init__(self, ranks: int, kept: int = 64) -> None:
        if min(ranks, kept) < 1:
            raise ConfigError(f"num_client={ranks} and kept={kept} must be at least 1")
        self.ranks = ranks
        self.kept = kept
        self.coordinator = 2 * ranks
        self.live: set[int] = set()
        self.phase = "FREE"
        self.request_number = 0
        self.outcomes: dict[int, Outcome] = {}
        self.running = _Running()
        self.load = ["none"] * ranks
        self.worker = ["idle"] * ranks

    # -- parties -------------------------------------------------------------------------------------------------

    def join(self, party: int) -> None:
        """Join: a process is this party."""
        self._require_party(party)
        if party in self.live:
            raise ProtocolViolationError(f"Join: {self.name_of(party)} is live")
        self.live.add(party)

    def leave(self, party: int) -> None:
        """Leave: the handle closed. A running request that needs the party ends."""
        self._require_live(party, "Leave")
        self._part(party, "has closed its handle")

    def fence(self, party: int) -> None:
        """Fence: the process is gone. A running request that needs the party ends."""
        self._require_live(party, "Fence")
        self._part(party, "was lost")

    # -- the request and its coordinator -------------------------------------------------------------------------

    def request(self, addresses: tuple[str, ...]) -> int:
        """Request: begin one; returns its number, or 0 while another one is not over."""
        if self.phase != "FREE":
            return 0
        self._fresh("ASKED")
        self.running.addresses = addresses
        self.request_number += 1
        return self.request_number

    def take(self) -> bool:
        """Take: the coordinator begins with the request. False when there is none to take."""
        self._require_live(self.coordinator, "Take")
        if self.phase != "ASKED":
            return False
        self.phase = "DOING"
        return True

    def begin_load(self, request: int, plan: bytes) -> bool:
        """BeginLoad: every rank is to load by this plan. Once for a request."""
        if not self._doing(request, "BeginLoad") or self.load[0] != "none":
            return False
        self.running.plan = plan
        self.load = ["asked"] * self.ranks
        return True

    def peer_ready(self, request: int, address: str) -> bool:
        """PeerReady: an address has done its part."""
        if not self._doing(request, "PeerReady") or not self._awaited(address):
            return False
        self.running.reached.add(address)
        return True

    def peer_failed(self, request: int, address: str, reason: str) -> bool:
        """PeerFailed: an address is out of reach, or has failed: the request ends."""
        if not self._doing(request, "PeerFailed") or not self._awaited(address):
            return False
        self._end("failed", f"address {address}: {reason}", addresses=(address,))
        return True

    def declare_loaded(self, request: int) -> bool:
        """DeclareLoaded. False while a rank or an address has not done its part (see ``lacking``)."""
        if not self._doing(request, "DeclareLoaded") or any(self.lacking()):
            return False
        self.phase = "LOAD_SUCC"
        return True

    def call_off(self, request: int, reason: str) -> bool:
        """CallOff: the coordinator gives the request up."""
        if not self._doing(request, "CallOff"):
            return False
        self._end("failed", f"called off: {reason}")
        return True

    def lacking(self) -> tuple[tuple[int, ...], tuple[str, ...]]:
        """Return the ranks that have not loaded, and the addresses that have not done their part."""
        ranks = tuple(rank for rank, load in enumerate(self.load) if load != "ok")
        return ranks, tuple(a for a in self.running.addresses if a not in self.running.reached)

    # -- loaders -------------------------------------------------------------------------------------------------

    def take_load(self, rank: int) -> bool:
        """TakeLoad: the loader begins with ``running.plan``. False when it has nothing to load."""
        self._require_rank(rank, 0, "TakeLoad")
        if self.load[rank] != "asked":
            return False
        self.load[rank] = "taken"
        return True

    def report_ok(self, rank: int, request: int) -> bool:
        """ReportOk: the rank has loaded. False when the report is not about the load that it has taken."""
        if self.refuse_report(rank, request):
            return False
        self.load[rank] = "ok"
        return True

    def report_failed(self, rank: int, request: int, reason: str) -> bool:
        """ReportFailed: the rank could not load: the request ends. False as for ReportOk."""
        if self.refuse_report(rank, request):
            return False
        self._end("failed", f"rank {rank} could not load: {reason}", (rank,))
        return True

    def refuse_report(self, rank: int, request: int) -> bool:
        """RefuseReport: True when a report about the request would count for nothing."""
        self._require_rank(rank, 0, "ReportOk")
        return self.phase != "DOING" or request != self.request_number or self.load[rank] != "taken"

    # -- workers -------------------------------------------------------------------------------------------------

    def update(self, request: int) -> bool:
        """Update: the exchange of weights is allowed. False when nothing is loaded for this request."""
        if self.phase != "LOAD_SUCC" or request != self.request_number:
            return False
        self.phase = "UPDATING"
        return True

    def arrive(self, rank: int) -> bool:
        """Arrive: the worker is ready; the last one to come begins the exchange for all. False when there is none."""
        self._require_rank(rank, self.ranks, "Arrive")
        if self.phase != "UPDATING" or self.worker[rank] != "idle":
            return False
        self.worker[rank] = "here"
        if all(worker == "here" for worker in self.worker):
            self.worker = ["swap"] * self.ranks
        return True

    def withdraw(self, rank: int) -> bool:
        """Withdraw: the worker waits no longer. False when it does not wait, for example because it has begun."""
        if not 0 <= rank < self.ranks or self.worker[rank] != "here":
            return False
        self.worker[rank] = "idle"
        return True

    def updated(self, rank: int, request: int) -> bool:
        """Updated: the worker has exchanged its weights; the last one ends the request. False when it had not begun."""
        self._require_rank(rank, self.ranks, "Updated")
        if self.worker[rank] != "swap" or request != self.request_number:
            return False
        self.worker[rank] = "done"
        self._close_exchange()
        return True

    # -- the end -------------------------------------------------------------------------------------------------

    def free(self) -> bool:
        """Free: what is done was looked at."""
        if self.phase != "DONE":
            return False
        self.phase = "FREE"
        return True

    def end_timeout(self) -> bool:
        """EndTimeout: the request's limit has passed. False when none runs, or weights are being exchanged."""
        if self.phase in ("FREE", "DONE") or self.exchanging():
            return False
        missing: tuple[int, ...] = ()
        addresses: tuple[str, ...] = ()
        if self.phase == "ASKED":
            reason = "no coordinator has taken it"
        elif self.phase == "DOING" and self.load[0] == "none":
            reason = "its coordinator has not told the ranks to load"
        elif self.phase == "DOING":
            missing, addresses = self.lacking()
            reason = "not everybody has loaded" if missing or addresses else "its coordinator has declared nothing"
        elif self.phase == "LOAD_SUCC":
            reason = "nobody has asked for the update"
        else:
            missing = tuple(rank for rank, worker in enumerate(self.worker) if worker == "idle")
            reason = "not every worker has come to exchange its weights"
        self._end("late", reason, missing, addresses)
        return True

    def exchanging(self) -> bool:
        """Return True from the moment at which the workers begin until the request is over."""
        return any(worker in ("swap", "done", "lost") for worker in self.worker)

    def name_of(self, party: int) -> str:
        """Return a party in words."""
        if party == self.coordinator:
            return "the coordinator"
        return f"the {'loader' if party < self.ranks else 'worker'} of rank {party % self.ranks}"

    # -- helpers -------------------------------------------------------------------------------------------------

    def _part(self, party: int, how: str) -> None:
        self.live.discard(party)
        is_worker = self.ranks <= party < self.coordinator
        rank = party % self.ranks
        missing = () if party == self.coordinator else (rank,)
        loaded = self.phase in ("LOAD_SUCC", "UPDATING") and not self.exchanging()
        if self.phase == "DOING" or (loaded and party != self.coordinator):
            self._end("lost", f"{self.name_of(party)} {how}", missing)
        elif is_worker and self.worker[rank] == "swap":
            self.worker[rank] = "lost"
            self._close_exchange()

    def _close_exchange(self) -> None:
        """End the request when nobody exchanges weights any more."""
        if "swap" in self.worker:
            return
        lost = tuple(rank for rank, worker in enumerate(self.worker) if worker == "lost")
        if lost:
            names = ", ".join(map(str, lost))
            self._end("lost", f"the worker of rank {names} was lost while weights were exchanged", lost)
        else:
            self._end("done", "", phase="DONE")

    def _end(
        self,
        what: str,
        reason: str,
        missing: tuple[int, ...] = (),
        addresses: tuple[str, ...] = (),
        phase: str = "FREE",
    ) -> None:
        number = self.request_number
        known = self.worker if self.exchanging() else self.load
        ranks = tuple("ok" if word in ("ok", "done") else word for word in known)
        self.outcomes[number] = Outcome(number, what, reason, ranks, missing, addresses)
        self.outcomes.pop(number - self.kept, None)
        self._fresh(phase)

    def _fresh(self, phase: str) -> None:
        self.phase = phase
        self.running = _Running()
        self.load = ["none"] * self.ranks
        self.worker = ["idle"] * self.ranks

    def _awaited(self, address: str) -> bool:
        return address in self.running.addresses and address not in self.running.reached

    def _doing(self, request: int, action: str) -> bool:
        self._require_live(self.coordinator, action)
        return self.phase == "DOING" and request == self.request_number

    def _require_rank(self, rank: int, base: int, action: str) -> None:
        if not 0 <= rank < self.ranks:
            raise RankError(f"{action}: rank {rank} is outside 0 <= rank < {self.ranks}")
        self._require_live(base + rank, action)

    def _require_party(self, party: int) -> None:
        if not 0 <= party <= self.coordinator:
            raise RankError(f"party {party} is outside 0 <= party <= {self.coordinator}")

    def _require_live(self, party: int, action: str) -> None:
        self._require_party(party)
        if party not in self.live:
            raise ProtocolViolationError(f"{action}: {self.name_of(party)} is not live")
