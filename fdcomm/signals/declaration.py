"""What a signal of the catalogue is: block name, suffix rule, dtype, shape, who makes, writes and reads it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from fdcomm.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ("FEATURES", "ROLES", "Declaration", "Feature", "Role", "Suffix", "Topology", "is_int")

Role: TypeAlias = Literal[
    "engine",
    "engine_client",
    "async_llm",
    "worker",
    "prefix_cache",
    "cache_transfer",
    "cache_messager",
    "experts_manager",
]
"""A kind of process, or a part of one: FastDeploy's CommonEngine, EngineClient, AsyncLLM, WorkerProcess,
PrefixCacheManager, CacheTransferManager, CacheMessager and ExpertsManager."""

Feature: TypeAlias = Literal["core", "cache", "expert", "eplb", "profile", "layerwise", "scheduler"]
"""A group of signals that an engine has or has not: ``core`` always; ``cache`` with prefix caching or prefill/decode
separation; ``expert`` with several data-parallel replicas; ``eplb`` with expert rearrangement; ``profile`` when the
number of cache blocks is measured; ``layerwise`` with layer-by-layer sending; ``scheduler`` with the V1 scheduler."""

ROLES: Final[tuple[Role, ...]] = get_args(Role)
FEATURES: Final[tuple[Feature, ...]] = get_args(Feature)


class Suffix(Enum):
    """What is appended to the block name, after a dot."""

    PORT = "P"
    """The port of the replica's worker queue."""
    ENGINE = "E"
    """The engine's number: the port of replica 0's worker queue, or its pid in older engines."""
    PORT_DP = "P_dp<d>"
    """The port and the data-parallel rank."""
    PORT_DP_TP = "P_dp<d>_tp<r>"
    """The port and both ranks: one segment for each tensor-parallel rank."""
    DEVICE = "<device>"
    """The number of the rank's device; the name itself ends in the data-parallel rank."""


@dataclass(frozen=True)
class Topology:
    """The numbers that names and shapes depend on, of one data-parallel replica.

    Attributes:
        tp_size: Tensor-parallel ranks of the replica.
        dp_size: Data-parallel replicas.
        dp_rank: This replica.
        port: Suffix ``P``: the port of this replica's worker queue.
        engine: Suffix ``E``.
        nodes: Machines that the replicas are spread over.
        device: Number of this rank's device; needed for ``layerwise``.
        max_num_seqs: Batch slots; needed for ``scheduler``.
        num_layers: Hidden layers of the model; needed for ``eplb``.
        num_experts: Experts of a layer; needed for ``eplb``.
        ips_bytes: Room for the list of peer addresses, in bytes; used for ``eplb``.
    """

    tp_size: int
    dp_size: int
    dp_rank: int
    port: int | str
    engine: int | str
    nodes: int = 1
    device: int | None = None
    max_num_seqs: int | None = None
    num_layers: int | None = None
    num_experts: int | None = None
    ips_bytes: int = 1024

    def __post_init__(self) -> None:
        for name in ("tp_size", "dp_size", "nodes", "ips_bytes", "max_num_seqs", "num_layers", "num_experts"):
            number = getattr(self, name)
            if number is not None and (not is_int(number) or number < 1):
                raise ConfigError(f"{name}={number!r} must be a positive integer")
        if not is_int(self.dp_rank) or not 0 <= self.dp_rank < self.dp_size:
            raise ConfigError(f"dp_rank={self.dp_rank!r} is not one of 0..{self.dp_size - 1} (dp_size={self.dp_size})")
        for name, label in (("port", self.port), ("engine", self.engine), ("device", self.device)):
            if not ((label is None and name == "device") or is_int(label) or isinstance(label, str)):
                raise ConfigError(f"{name}={label!r} must be an integer or a text: it ends names of signals")
        if self.dp_size % self.nodes:
            raise ConfigError(f"dp_size={self.dp_size} cannot be spread evenly over nodes={self.nodes}")

    def size(self, dimension: int | str) -> int:
        """Return the length of an axis that is written as a number or by name.

        Raises:
            ConfigError: The name stands for a number that this topology was not given.
        """
        if isinstance(dimension, int):
            return dimension
        if dimension == "dp_per_node":
            return self.dp_size // self.nodes
        if dimension == "workers_per_node":
            return self.tp_size * self.dp_size // self.nodes
        number: int | None = getattr(self, dimension)
        if number is None:
            raise ConfigError(f"{dimension} is needed for the shape of a signal; pass {dimension}=...")
        return number


@dataclass(frozen=True)
class Declaration:
    """One signal.

    Attributes:
        name: Block name, without suffix. ``{dp_rank}`` stands for that number.
        attribute: Names under which FastDeploy's classes hold it.
        suffix: Rule for the suffix.
        shape: Length of each axis: a number, or the name of one (see :meth:`Topology.size`).
        creator: Who makes it; None when the first of its writers and readers does.
        writers: Who stores into it.
        readers: Who loads from it.
        meaning: One sentence.
        feature: The group that it belongs to.
        dtype: Element type; None for raw bytes, which have no array.
        codes: The names of its values, where they have names.
        initial: Value of every element of a new one.
    """

    name: str
    attribute: tuple[str, ...]
    suffix: Suffix
    shape: tuple[int | str, ...]
    creator: Role | None
    writers: tuple[Role, ...]
    readers: tuple[Role, ...]
    meaning: str
    feature: Feature = "core"
    dtype: str | None = "int32"
    codes: type[IntEnum] | None = None
    initial: int = 0

    @property
    def roles(self) -> tuple[Role, ...]:
        """Return every role that holds it."""
        held = (*((self.creator,) if self.creator else ()), *self.writers, *self.readers)
        return tuple(role for role in ROLES if role in held)

    def block(self, topology: Topology) -> str:
        """Return the block name without suffix."""
        return self.name.format(dp_rank=topology.dp_rank)

    def ranks(self, topology: Topology) -> Sequence[int | None]:
        """Return the tensor-parallel ranks that have a segment of their own, or ``[None]``: one for all."""
        return range(topology.tp_size) if self.suffix is Suffix.PORT_DP_TP else [None]

    def suffix_of(self, topology: Topology, tp_rank: int | None = None) -> int | str:
        """Return the suffix.

        Raises:
            ConfigError: It needs a number that this topology was not given.
        """
        if self.suffix is Suffix.PORT:
            return topology.port
        if self.suffix is Suffix.ENGINE:
            return topology.engine
        if self.suffix is Suffix.DEVICE:
            if topology.device is None:
                raise ConfigError(f"the name of {self.name} ends in the device's number; pass device=...")
            return topology.device
        replica = f"{topology.port}_dp{topology.dp_rank}"
        return replica if self.suffix is Suffix.PORT_DP else f"{replica}_tp{tp_rank}"

    def template(self, topology: Topology) -> NDArray[np.generic] | None:
        """Return the first content: an array of the signal's dtype and shape, or None for raw bytes (zeros).

        Needs numpy, which is the caller's.
        """
        import numpy as np

        if self.dtype is None:
            return None
        return np.full([topology.size(axis) for axis in self.shape], self.initial, self.dtype)

    def size(self, topology: Topology) -> int:
        """Return the number of bytes of the signal's data."""
        template = self.template(topology)
        return math.prod(topology.size(axis) for axis in self.shape) if template is None else template.nbytes


def is_int(value: object) -> bool:
    """Return True for an integer that is no bool."""
    return isinstance(value, int) and not isinstance(value, bool)
