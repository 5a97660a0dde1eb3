"""RearrangeControl: a rearrangement of a model's experts over its ranks, as one request that everybody follows.

Protocol: ``spec/rearrange.toml``, ``tla/rearrange/Rearrange.tla``, docs/protocols/rearrange.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from fdcomm import arguments
from fdcomm.connect import Address, How
from fdcomm.deadline import DEFAULT, Timeout, timeout_seconds
from fdcomm.errors import ConfigError
from fdcomm.handle import Handle
from fdcomm.runtime import SYSTEM, Runtime
from fdcomm.transports.base import Transport

__all__ = ("RearrangeControl", "RearrangeOutcome", "RearrangeStatus")

_WORDS: Final = {"FREE": 0, "ASKED": 1, "DOING": 1, "LOAD_SUCC": 2, "UPDATING": 2, "DONE": 3}


@dataclass(frozen=True, slots=True)
class RearrangeOutcome:
    """How a request ended.

    Attributes:
        request: Its number.
        what: ``"done"``, ``"failed"``, ``"lost"`` (somebody who was needed is gone) or ``"late"`` (its time limit).
        reason: In words; "" when it is done.
        ranks: What is known of each rank: ``"ok"``, or how far it had come.
        missing: Ranks whose part was missing.
        addresses: Addresses whose part was missing.
    """

    request: int
    what: str
    reason: str
    ranks: tuple[str, ...]
    missing: tuple[int, ...]
    addresses: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """True when all ranks have exchanged their weights."""
        return self.what == "done"


@dataclass(frozen=True, slots=True)
class RearrangeStatus:
    """A snapshot.

    Attributes:
        version: Grows with every change.
        phase: FREE, ASKED, DOING, LOAD_SUCC, UPDATING or DONE, of the last request.
        request: Number of the last request, 0 before the first.
        addresses: Those that the running request names.
        unreached: Those of them of which nothing is known yet.
        load: Of each rank: none, asked, taken or ok.
        worker: Of each rank: idle, here, swap, done or lost.
        exchanging: Weights are being exchanged: no time limit ends the request now.
        outcome: Of the last request, when it is over.
        parties: Numbers of those who are there; the loader of rank r is r, its worker is ranks + r, the coordinator is
            2 * ranks.
    """

    version: int
    phase: str
    request: int
    addresses: tuple[str, ...]
    unreached: tuple[str, ...]
    load: tuple[str, ...]
    worker: tuple[str, ...]
    exchanging: bool
    outcome: RearrangeOutcome | None
    parties: tuple[int, ...]

    @property
    def word(self) -> int:
        """The phase as FastDeploy's status word has it: 0 free, 1 doing, 2 loaded, 3 done."""
        return _WORDS[self.phase]


class RearrangeControl(Handle):
    """A handle to the rearrangements of one replica. Its host is the one of an :class:`fdcomm.EngineWorkerQueue`.

    | who | calls |
    |---|---|
    | requester: any process, any number | ``request``, ``update``, ``wait``, ``status`` |
    | coordinator: one, the expert manager of rank 0 | ``take``, ``begin_load``, ``peer_ready``, ``peer_failed``, ``gather``, ``declare_loaded``, ``call_off``, ``free`` |
    | loader: one per rank | ``take_load``, ``report`` |
    | worker: one per rank | ``take_update``, ``updated`` |

    A handle becomes coordinator, loader or worker by its first such call, and may be several; loader and worker act for
    the handle's ``client_id``. When its process dies, or it closes, a running request that needs it ends at once.
    Every request ends: as done, or free with a reason that names who was missing; only a worker that lives and never
    ends its exchange can hold it. Every call has a limit of its own.
    """  # noqa: E501 - rows of a table

    _kind = "worker"

    def __init__(
        self,
        address: Address = ("0.0.0.0", 5000),
        authkey: bytes = b"secret_key",
        *,
        num_client: int = 1,
        client_id: int = 0,
        local_data_parallel_id: int = 0,
        allow_pickle: bool = False,
        transport: How | Transport = "auto",
        connect_timeout: float = 0.0,
        runtime: Runtime = SYSTEM,
    ) -> None:
        """Connect to the host of a worker queue. The arguments are those of :class:`fdcomm.EngineWorkerQueue`.

        Raises:
            RankError: ``client_id`` is out of range.
            ConfigError: Another argument cannot work, or disagrees with the host's.
            HostNotFoundError: Nobody serves the address.
            AuthError: Wrong key.
        """
        size = local_data_parallel_id + 1 if isinstance(local_data_parallel_id, int) else 1
        super().__init__(
            address,
            authkey,
            False,
            num_client,
            client_id,
            max(1, size),
            local_data_parallel_id,
            role="producer",  # to the queue's other protocols this handle is nobody's reader
            allow_pickle=allow_pickle,
            transport=transport,
            connect_timeout=connect_timeout,
            runtime=runtime,
        )

    # -- whoever asks --------------------------------------------------------------------------------------------

    def request(self, addresses: Iterable[str] = (), *, limit: Timeout = DEFAULT) -> int:
        """Ask for a rearrangement. Action Request (after Free, when the last one is done).

        Args:
            addresses: Whom the coordinator has to reach besides the ranks of this replica. All of them have to do
                their part, or the request fails.
            limit: Seconds until the workers must have begun to exchange weights; then the request ends as "late". The
                default is FDCOMM_TIMEOUT, else 600; None: no limit.

        Returns:
            The number of the request.

        Raises:
            RearrangeBusyError: Another request is running; ``request`` is its number.
            ConfigError: An address is no text, is empty, or is there twice.
        """
        seconds = timeout_seconds(limit, "request")
        named = arguments.texts(addresses, "addresses", "request")
        if not all(named) or len(set(named)) < len(named):
            raise ConfigError(f"request: addresses={named!r} must be different, non-empty texts", operation="request")
        number: int = self._call("request", named, seconds, name="request")
        return number

    def update(self, request: int) -> bool:
        """Allow the exchange of weights of a request that all have loaded. Action Update.

        Returns:
            False when it had been allowed before.

        Raises:
            RearrangeEndedError: The request is over, for example because its load failed.
            ProtocolViolationError: Not everybody has loaded yet.
        """
        return bool(self._call("update", _number(request, "update"), name="update"))

    def wait(self, request: int, timeout: Timeout = DEFAULT) -> RearrangeOutcome:
        """Return the outcome of a request, when it is over. Outcomes of the last 64 requests are kept.

        Raises:
            CommTimeoutError: It is not over; the message says what it waits for, ``missing`` names the ranks.
            ConfigError: There was no such request.
        """
        return RearrangeOutcome(**self._timed("wait", timeout, _number(request, "wait")))

    def status(self, *, seen: int = -1, timeout: Timeout = 0.0) -> RearrangeStatus:
        """Return a snapshot. With ``seen``, the ``version`` of one, wait up to ``timeout`` for another."""
        version, limit = arguments.number(seen, "seen", "status"), timeout_seconds(timeout, "status")
        view: dict[str, Any] = self._act("rearrange", "view", version, limit, timeout=limit, name="status")
        outcome = view.pop("outcome")
        return RearrangeStatus(outcome=RearrangeOutcome(**outcome) if outcome else None, **view)

    # -- the coordinator -----------------------------------------------------------------------------------------

    def take(self, timeout: Timeout = 0.0) -> tuple[int, tuple[str, ...]] | None:
        """Take the request that waits: its number and addresses; None when there is none in time. Action Take.

        If this process dies before :meth:`declare_loaded`, the request ends.
        """
        taken: tuple[int, tuple[str, ...]] | None = self._timed("take", timeout)
        return taken

    def begin_load(self, request: int, plan: Any = None) -> None:
        """Tell every rank to load. Action BeginLoad. ``plan`` (statistics, the new table) reaches them as a whole."""
        self._call("begin_load", _number(request, "begin_load"), self._pickle(plan, "begin_load"), name="begin_load")

    def peer_ready(self, request: int, address: str) -> None:
        """Say that an address has done its part. Action PeerReady."""
        name = "peer_ready"
        self._call("peer", _number(request, name), arguments.text(address, "address", name), None, name=name)

    def peer_failed(self, request: int, address: str, reason: str) -> None:
        """Say that an address is out of reach, or has failed: the request ends. Action PeerFailed."""
        name = "peer_failed"
        self._call("peer", _number(request, name), arguments.text(address, "address", name), str(reason), name=name)

    def gather(self, request: int, timeout: Timeout = DEFAULT) -> tuple[str, ...]:
        """Wait until every rank has loaded; return the addresses of which nothing is known yet.

        Raises:
            CommTimeoutError: ``missing`` names the ranks that have not loaded. The request goes on.
            RearrangeEndedError: It ended meanwhile; the message says why.
        """
        left: tuple[str, ...] = self._timed("gather", timeout, _number(request, "gather"))
        return left

    def declare_loaded(self, request: int) -> None:
        """Declare that all have loaded. Action DeclareLoaded.

        Raises:
            ProtocolViolationError: A rank or an address has not done its part; nothing was changed.
            RearrangeEndedError: The request is over.
        """
        self._call("declare", _number(request, "declare_loaded"), None, name="declare_loaded")

    def call_off(self, request: int, reason: str) -> None:
        """Give a request up that is being loaded. Action CallOff."""
        self._call("declare", _number(request, "call_off"), str(reason), name="call_off")

    def free(self) -> bool:
        """Leave DONE. Action Free. The next request does it too. False when there is nothing to leave."""
        return bool(self._call("free", name="free"))

    # -- loaders -------------------------------------------------------------------------------------------------

    def take_load(self, timeout: Timeout = 0.0) -> tuple[int, Any] | None:
        """Take this rank's load: number of the request and plan; None when there is none in time. Action TakeLoad."""
        taken = self._timed("take_load", timeout)
        return None if taken is None else (taken[0], self._unpickle(taken[1], "take_load"))

    def report(self, request: int, ok: bool = True, reason: str = "") -> None:
        """Report how this rank's load went. Action ReportOk or ReportFailed; a failure ends the request.

        Raises:
            RearrangeEndedError: The request is over. Drop what was loaded; it counts for no other request.
            ConfigError: ``ok`` is neither True nor False: a reason in its place would count as a load that went well.
        """
        if not arguments.is_truth(ok):
            raise ConfigError(f"report: ok={ok!r} must be True or False; a reason is reason=...", operation="report")
        why = None if ok else str(reason) or "no reason was given"
        self._call("report", _number(request, "report"), why, name="report")

    # -- workers -------------------------------------------------------------------------------------------------

    def take_update(self, timeout: Timeout = DEFAULT) -> int | None:
        """Meet the workers of all ranks, to exchange weights. Action Arrive (Withdraw when the limit ends).

        Returns:
            None at once when there is nothing to exchange. Else the number of the request: now put its table into the
            weights and call :meth:`updated`. All workers get it, or none does.

        Raises:
            CommTimeoutError: The others did not come in time; ``missing`` names them. Go on, and come again.
            RearrangeEndedError: The request ended while this worker waited; do not exchange anything.
        """
        return self._timed("take_update", timeout) or None

    def updated(self, request: int) -> None:
        """Say that this rank has exchanged its weights. Action Updated; the last rank makes the request done."""
        self._call("updated", _number(request, "updated"), name="updated")

    # -- statistics ----------------------------------------------------------------------------------------------

    def put_stats(self, stats: Any) -> None:
        """Replace what this rank has counted. Readers see the old value or the new one, never a mixture."""
        self._call("put_stats", self._pickle(stats, "put_stats"), name="put_stats")

    def stats(self) -> list[Any]:
        """Return what every rank has counted last, None for those that have said nothing."""
        found: list[bytes] = self._call("stats", name="stats")
        return [self._unpickle(payload, "stats") if payload else None for payload in found]

    # -- helpers -------------------------------------------------------------------------------------------------

    def _call(self, action: str, *args: Any, name: str) -> Any:
        return self._act("rearrange", action, *args, name, name=name)

    def _timed(self, action: str, timeout: Timeout, *args: Any) -> Any:
        limit = timeout_seconds(timeout, action)
        return self._act("rearrange", action, *args, limit, action, timeout=limit, name=action)


def _number(request: object, operation: str) -> int:
    number = arguments.number(request, "request", operation)
    if number < 1:
        raise ConfigError(f"{operation}: request={request!r} must be the number that request() returned")
    return number
