"""All the signals that one process of an engine holds, made or attached in one call."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Final, cast

from fdcomm.deadline import DEFAULT, Deadline, Timeout, timeout_seconds
from fdcomm.errors import ClosedError, ConfigError, SignalInUseError, SignalMismatchError, SignalNotFoundError
from fdcomm.runtime import SYSTEM, Runtime
from fdcomm.signals.catalogue import declared, held_by
from fdcomm.signals.declaration import FEATURES, ROLES, Declaration, Feature, Role, Suffix, Topology, is_int
from fdcomm.signals.ipc_signal import IPCSignal

__all__ = ("SignalSet",)

_RETRY_S: Final = 0.01
_GRACE_S: Final = 1.0
"""How long to wait for a process that is just changing a name when the time is over: it takes microseconds."""
_Key = tuple[str, "int | None"]


class SignalSet:
    """The signals of one role, by name.

    ``signals["kv_cache_status"]`` is the :class:`~fdcomm.IPCSignal`; the names of FastDeploy's attributes
    (``kv_cache_status_signal``) find it too. A signal with a segment for each tensor-parallel rank is asked for by
    :meth:`of`. Make one with :meth:`create`; close it, or use it as a context manager.
    """

    def __init__(
        self, role: Role, topology: Topology, signals: dict[_Key, IPCSignal], *, runtime: Runtime = SYSTEM
    ) -> None:
        self.role: Final = role
        self.topology: Final = topology
        self._signals = signals
        self._runtime = runtime
        self._closed = False

    @classmethod
    def create(
        cls,
        role: Role,
        tp_size: int,
        dp_size: int = 1,
        suffix: int | str | Sequence[int | str] = 0,
        *,
        dp_rank: int = 0,
        engine_suffix: int | str | None = None,
        features: Sequence[Feature] = ("core", "cache"),
        nodes: int = 1,
        device: int | None = None,
        max_num_seqs: int | None = None,
        num_layers: int | None = None,
        num_experts: int | None = None,
        ips_bytes: int = 1024,
        timeout: Timeout = DEFAULT,
        directory: str | None = None,
        runtime: Runtime = SYSTEM,
    ) -> SignalSet:
        """Make the signals that this role makes, and attach the others, waiting for their makers.

        What a process has left that is gone counts as not made: its maker's next run replaces it.

        Signals of the engine as a whole (suffix ``E``) are made by replica 0's engine and attached by those of the
        others.

        Args:
            role: What the calling process is: one of ``fdcomm.signals.ROLES``.
            tp_size: Tensor-parallel ranks of a replica.
            dp_size: Data-parallel replicas.
            suffix: Port of this replica's worker queue, or the ports of all replicas.
            dp_rank: This replica.
            engine_suffix: Suffix of the signals of the engine as a whole. By default the first port.
            features: Which groups of signals the engine has, see ``fdcomm.signals.Feature``.
            nodes: Machines that the replicas are spread over.
            device: Number of this rank's device, for ``layerwise``.
            max_num_seqs: Batch slots, for ``scheduler``.
            num_layers: Hidden layers, for ``eplb``.
            num_experts: Experts of a layer, for ``eplb``.
            ips_bytes: Room for the address list in bytes, for ``eplb``.
            timeout: Seconds for all of it, that is, to wait for signals that others make; None means for ever.
            directory: Where the segments are; by default the system's.
            runtime: Clock and sleep.

        Raises:
            ConfigError: An argument is wrong, or one that a group needs is missing.
            SignalNotFoundError: A signal was not made in time; the text names all that are missing.
            CommTimeoutError: A process that is stopped has held up the names of signals for ``timeout`` seconds.
            SignalMismatchError: A signal has another dtype or shape here than where it was made: the processes do
                not agree on sizes.
            SignalInUseError: Another live process made a signal that this role makes.
        """
        if role not in ROLES:
            raise ConfigError(f"role={role!r} is none of {', '.join(ROLES)}")
        wanted = _features(features)
        port, first = _ports(suffix, dp_size, dp_rank)
        engine = first if engine_suffix is None else engine_suffix
        if engine is None:
            raise ConfigError(f"with dp_size={dp_size}, suffix needs the ports of all replicas, or pass engine_suffix")
        topology = Topology(
            tp_size=tp_size,
            dp_size=dp_size,
            dp_rank=dp_rank,
            port=port,
            engine=engine,
            nodes=nodes,
            device=device,
            max_num_seqs=max_num_seqs,
            num_layers=num_layers,
            num_experts=num_experts,
            ips_bytes=ips_bytes,
        )
        deadline = Deadline(timeout_seconds(timeout, "SignalSet.create"), runtime.monotonic)
        held = [(decl, rank) for decl in held_by(role, wanted) for rank in decl.ranks(topology)]
        made: dict[_Key, IPCSignal] = {}
        with contextlib.ExitStack() as undo:

            def keep(decl: Declaration, rank: int | None, signal: IPCSignal) -> None:
                undo.callback(signal.clear)
                made[decl.name, rank] = signal

            def left() -> float | None:
                seconds = deadline.remaining()
                return None if seconds is None else max(seconds, _GRACE_S)

            def opened(decl: Declaration, rank: int | None, create: bool) -> IPCSignal:
                # What the first process makes may have been made by the device's own software, without a trailer.
                array = decl.template(topology)
                return IPCSignal(
                    decl.block(topology),
                    array,
                    None if array is None else array.dtype,
                    decl.suffix_of(topology, rank),
                    create,
                    decl.size(topology),
                    validate=decl.creator is not None,
                    timeout=left(),
                    directory=directory,
                    runtime=runtime,
                )

            def attached(decl: Declaration, rank: int | None) -> IPCSignal | None:
                """What an earlier run has left is as good as nothing: whoever makes the signal will replace it."""
                try:
                    there = opened(decl, rank, create=False)
                except SignalNotFoundError:
                    return None
                except SignalMismatchError:
                    if not is_left(decl, rank):
                        raise
                    return None
                if there.segment.trailer is None or there.owner_alive(left()):
                    return there
                there.close()
                return None

            def is_left(decl: Declaration, rank: int | None) -> bool:
                with contextlib.closing(
                    IPCSignal(
                        decl.block(topology),
                        suffix=decl.suffix_of(topology, rank),
                        create=False,
                        validate=False,
                        timeout=left(),
                        directory=directory,
                        runtime=runtime,
                    )
                ) as there:
                    return there.segment.trailer is not None and not there.owner_alive(left())

            # What this role makes comes first: others may wait for it while it waits for theirs.
            for decl, rank in held:
                if _makes(role, decl, topology):
                    keep(decl, rank, opened(decl, rank, create=True))
            missing = [(decl, rank) for decl, rank in held if (decl.name, rank) not in made]
            while missing:
                for decl, rank in missing:
                    with contextlib.suppress(SignalNotFoundError, SignalInUseError):
                        found = attached(decl, rank)
                        if found is None and decl.creator is None:
                            found = opened(decl, rank, create=True)
                        if found is not None:
                            keep(decl, rank, found)
                missing = [(decl, rank) for decl, rank in missing if (decl.name, rank) not in made]
                if missing and deadline.expired():
                    raise SignalNotFoundError(_missing(missing, topology, deadline.waited()))
                if missing:
                    runtime.sleep(_RETRY_S)
            undo.pop_all()
        signals = {(decl.name, rank): made[decl.name, rank] for decl, rank in held}
        return cls(role, topology, signals, runtime=runtime)

    def of(self, name: str, tp_rank: int | None = None) -> IPCSignal:
        """Return one signal.

        Args:
            name: Block name, or FastDeploy's name of the attribute.
            tp_rank: The rank, where each has a segment of its own.

        Raises:
            ConfigError: There is no such signal, this role does not hold it, or the rank is missing or too much.
            ClosedError: The set is closed.
        """
        if self._closed:
            raise ClosedError(f"the signals of {self.role} are closed")
        decl = declared(name)
        if not (tp_rank is None or is_int(tp_rank)):
            raise ConfigError(f"tp_rank={tp_rank!r} must be an integer, or be left out")
        found = self._signals.get((decl.name, tp_rank))
        if found is None:
            if not any(held == decl.name for held, _ in self._signals):
                raise ConfigError(f"{self.role} does not hold {decl.name} with these features")
            ranks = [rank for held, rank in self._signals if held == decl.name]
            if ranks == [None]:
                raise ConfigError(f"{decl.name} is one for all ranks, not one of tp_rank={tp_rank}; leave tp_rank out")
            raise ConfigError(
                f"each of the ranks {', '.join(map(str, ranks))} has a {decl.name} of its own, and tp_rank={tp_rank} "
                f"was asked for; write of({name!r}, tp_rank)"
            )
        return found

    def __getitem__(self, name: str) -> IPCSignal:
        """Return the signal of that name that all ranks share; see :meth:`of`."""
        return self.of(name)

    def __iter__(self) -> Iterator[tuple[str, int | None]]:
        """Yield the block name and the tensor-parallel rank (None for all) of each signal."""
        return iter(self._signals)

    def __len__(self) -> int:
        return len(self._signals)

    def close(self, timeout: Timeout = DEFAULT) -> None:
        """Give all up. Those that this process made are removed. Idempotent.

        Raises:
            CommTimeoutError: A process that is stopped has held up the names of signals for ``timeout`` seconds, in
                all. What could not be removed is removed by another ``close``, or at the process's orderly end.
        """
        deadline = Deadline(timeout_seconds(timeout, "SignalSet.close"), self._runtime.monotonic)
        self._closed = True

        def end(signal: IPCSignal) -> None:
            signal.clear(deadline.remaining())

        with contextlib.ExitStack() as stack:
            for signal in self._signals.values():
                stack.callback(end, signal)

    def __enter__(self) -> SignalSet:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _ports(suffix: int | str | Sequence[int | str], dp_size: int, dp_rank: int) -> tuple[int | str, int | str | None]:
    """Return the port of this replica, and that of replica 0 where it is known."""
    if _is_port(suffix):
        return cast("int | str", suffix), cast("int | str", suffix) if dp_size == 1 else None
    if isinstance(suffix, bytes) or not isinstance(suffix, Sequence) or not all(map(_is_port, suffix)):
        raise ConfigError(f"suffix={suffix!r} is no port, and no list of ports (each an integer or a text)")
    if len(suffix) != dp_size:
        raise ConfigError(f"suffix has {len(suffix)} ports for dp_size={dp_size}")
    if len(set(map(str, suffix))) < len(suffix):
        raise ConfigError(f"suffix={suffix!r} has a port twice: two replicas would have one signal")
    if not is_int(dp_rank) or not 0 <= dp_rank < dp_size:
        raise ConfigError(f"dp_rank={dp_rank!r} is not one of 0..{dp_size - 1}")
    return suffix[dp_rank], suffix[0]


def _is_port(suffix: object) -> bool:
    return is_int(suffix) or isinstance(suffix, str)


def _features(features: object) -> tuple[Feature, ...]:
    if isinstance(features, (str, bytes)) or not isinstance(features, Iterable):
        raise ConfigError(f"features={features!r} must be a list, of {', '.join(FEATURES)}")
    wanted = tuple(features)
    unknown = [repr(name) for name in wanted if name not in FEATURES]
    if unknown:
        raise ConfigError(f"features has {', '.join(unknown)}; there are {', '.join(FEATURES)}")
    return wanted


def _makes(role: Role, decl: Declaration, topology: Topology) -> bool:
    return decl.creator == role and (decl.suffix is not Suffix.ENGINE or topology.dp_rank == 0)


def _missing(missing: Sequence[tuple[Declaration, int | None]], topology: Topology, waited_s: float) -> str:
    lines = [
        f"{decl.block(topology)}.{decl.suffix_of(topology, rank)} (made by {decl.creator or 'whoever comes first'})"
        for decl, rank in missing
    ]
    return f"after {waited_s:.1f} s no live process has made {', '.join(lines)}; start it, and compare the suffixes"
