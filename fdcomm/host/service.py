"""The host's object: what a client's remote calls reach. Sessions, and the channels of every replica."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypedDict

from fdcomm.errors import ConfigError, PayloadTooLargeError, ProtocolViolationError, RankError
from fdcomm.host import beats, controls, refusals
from fdcomm.host.barrier_channel import BarrierChannel
from fdcomm.host.channel import DispatchChannel
from fdcomm.host.fifo_channel import FifoChannel, NotesChannel
from fdcomm.host.gate_channel import GateChannel
from fdcomm.host.layout import BARRIER_GROUPS, BROADCASTS, CONTROLS, FIFOS, GATES, NOTES, WITHOUT
from fdcomm.host.meeting_channel import MeetingChannel
from fdcomm.host.members import Channel, Place
from fdcomm.host.ring_channel import RingChannel
from fdcomm.ring.memory import Memory
from fdcomm.runtime import Runtime, Words
from fdcomm.trace import Recorder

__all__ = ("DATA_PATHS", "PROTOCOL_VERSION", "Hello", "HostConfig", "HostService", "Welcome", "words_needed")

PROTOCOL_VERSION: Final = 5
DATA_PATHS: Final = ("auto", "ring", "host")
"""How items may go: through shared memory where that is possible, always, or never."""

MakeRing: TypeAlias = Callable[[int, str, int], Memory]
MakeMeeting: TypeAlias = Callable[[Place, tuple[str, ...], int], MeetingChannel]

# The control protocol that has shared words: the loops of the parts stamp them.
_LOOPS: Final = "readiness"

# What a client may call, by class of channel.
_ACTIONS: Final[dict[type[Channel], frozenset[str]]] = {
    DispatchChannel: frozenset({"put_tasks", "get_tasks", "clear_data", "set_exist_tasks", "view", "items"}),
    GateChannel: frozenset({"put_answer", "put_answers", "collect", "view"}),
    BarrierChannel: frozenset({"wait", "abort", "reset", "view"}),
    MeetingChannel: frozenset({"claim", "wait", "abort", "reset", "view"}),
    RingChannel: frozenset(
        {"claim", "attach", "put_tasks", "get_tasks", "clear_data", "set_exist_tasks", "view", "items"}
    ),
    FifoChannel: frozenset({"put", "take", "view"}),
    NotesChannel: frozenset({"get", "set"}),
    **controls.ACTIONS,
}


@dataclass(frozen=True, slots=True)
class HostConfig:
    """What a host is made of."""

    tp_size: int
    dp_size: int = 1
    depth: int = 1
    max_batch_bytes: int = 1 << 28
    kind: str = "worker"
    data_path: str = "auto"

    def check(self) -> None:
        """Raise ConfigError for values that can never work."""
        for name, value in (
            ("num_client", self.tp_size),
            ("local_data_parallel_size", self.dp_size),
            ("depth", self.depth),
            ("max_batch_bytes", self.max_batch_bytes),
        ):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ConfigError(f"{name}={value!r} must be an integer of at least 1")
        if self.kind not in BROADCASTS:
            raise ConfigError(f"kind={self.kind!r} must be one of {', '.join(BROADCASTS)}")
        if not isinstance(self.data_path, str) or self.data_path not in DATA_PATHS:
            raise ConfigError(f"data_path={self.data_path!r} must be one of {', '.join(DATA_PATHS)}")


class Hello(TypedDict):
    """What a client says when it opens a session."""

    version: int
    kind: str
    num_client: int
    client_id: int
    dp_rank: int
    role: str | None
    pid: int


class Welcome(TypedDict):
    """What the host answers.

    ``words_base`` says where each channel's shared words begin, ``rings`` through which rings channels go,
    and ``meetings`` in which meetings the ranks of a barrier's channel meet, once one of them has claimed its rank.
    """

    session: int
    instance: int
    tp_size: int
    dp_size: int
    depth: int
    max_batch_bytes: int
    words_path: str
    words_base: dict[str, int]
    rings: dict[str, str]
    meetings: dict[str, str]


def words_needed(config: HostConfig) -> int:
    """Return how many shared words a host has.

    For each broadcast channel, a ticket of all and one of each rank; behind them, those of the loops of each replica.
    """
    return config.dp_size * (len(BROADCASTS[config.kind]) * (1 + config.tp_size) + beats.words_for(config.tp_size))


class HostService:
    """All protocols of one host. Thread-safe; every action is one critical section of one channel.

    Args:
        config: Sizes.
        runtime: Threads, time and shared words.
        words: At least ``words_needed(config)`` shared words.
        recorder: Where events go; None records nothing.
        is_connected: Says whether a session's connection is still open. Asked when another process claims its rank,
            so that a restarted rank need not wait until the host has noticed the end of the old one.
        refused: Says how many connections could not be served.
        instance: Random number that tells this host from an earlier one at the same address.
        words_path: Where clients on this machine can map ``words``; "" when they cannot.
        rings: Makes the ring of a channel: of that replica and protocol, with so many slots. None: there are none.
        meetings: Makes the channel of barriers whose ranks meet in shared memory. None: there are none.
        only: Run these channels and no others: for simulations, in which every lock is a scheduling point.
    """

    def __init__(
        self,
        config: HostConfig,
        runtime: Runtime,
        words: Words,
        *,
        recorder: Recorder | None = None,
        is_connected: Callable[[int], bool] = lambda session: True,
        refused: Callable[[], int] = lambda: 0,
        instance: int = 0,
        words_path: str = "",
        rings: MakeRing | None = None,
        meetings: MakeMeeting | None = None,
        only: Collection[str] | None = None,
    ) -> None:
        config.check()
        self.config = config
        self._instance = instance
        self._words_path = words_path
        self._rings = rings
        self._meetings = meetings
        self._replica_of: dict[int, int] = {}
        self._next_session = itertools.count(1)
        self._replicas: list[dict[str, Channel]] = []
        for dp in range(config.dp_size):

            def place(protocol: str, dp: int = dp) -> Place:
                runs = only is None or protocol in only
                own = words[self._words_base(dp, protocol) :] if protocol == _LOOPS else None
                return Place(protocol, dp, runtime, recorder if runs else None, is_connected, refused, own)

            channels = self._channels(words, dp, place)
            self._replicas.append({name: channels[name] for name in channels if only is None or name in only})

    def open_session(self, hello: Hello) -> Welcome:
        """Open a session. Its incarnation, the session number, is never used again."""
        config = self.config
        self._check(hello)
        session = next(self._next_session)
        dp = hello["dp_rank"]
        self._replica_of[session] = dp
        who = f"pid {hello['pid']} (session {session})"
        opened: list[Channel] = []
        try:
            for channel in self._replicas[dp].values():
                channel.open(session, hello["client_id"], hello["role"], who)
                opened.append(channel)
        except Exception:
            del self._replica_of[session]
            for channel in opened:
                channel.close_session(session, lost=False)
            raise
        return Welcome(
            session=session,
            instance=self._instance,
            tp_size=config.tp_size,
            dp_size=config.dp_size,
            depth=config.depth,
            max_batch_bytes=config.max_batch_bytes,
            words_path=self._words_path,
            words_base={name: self._words_base(dp, name) for name in (*BROADCASTS[config.kind], _LOOPS)},
            rings={
                name: channel.memory.segment.name
                for name, channel in self._replicas[dp].items()
                if isinstance(channel, RingChannel)
            },
            meetings={name: c.name for name, c in self._replicas[dp].items() if isinstance(c, MeetingChannel)},
        )

    def close_session(self, session: int) -> None:
        """End a session in peace (Leave, Disconnect). Idempotent."""
        self._end(session, lost=False)

    def lose_session(self, session: int) -> None:
        """The session's connection is gone: fence what it was (Fence, FenceProducer). Idempotent."""
        self._end(session, lost=True)

    def shut_down(self) -> None:
        """Wake every waiting call with HostLostError."""
        for replica in self._replicas:
            for channel in replica.values():
                channel.shut_down()

    def act(self, session: int, protocol: str, action: str, *args: Any) -> Any:
        """Do one action of one channel: the method ``action`` of the channel ``protocol``, for the session.

        Raises:
            FencedError: The session has ended.
            ProtocolViolationError: There is no such channel or action.
            FdcommError: What the action raises.
        """
        dp = self._replica_of.get(session)
        if dp is None:
            raise refusals.fenced(action)
        channel = self._replicas[dp].get(protocol)
        if channel is None or action not in _ACTIONS[type(channel)] or action in WITHOUT.get(protocol, ()):
            raise ProtocolViolationError(f"{protocol}.{action}: this host has no such action", operation=action)
        for arg in args:
            for item in arg if isinstance(arg, list) else (arg,):
                if isinstance(item, bytes) and len(item) > self.config.max_batch_bytes:
                    raise PayloadTooLargeError(
                        f"{action}: the item has {len(item)} bytes, the host allows {self.config.max_batch_bytes}",
                        operation=action,
                    )
        return getattr(channel, action)(session, *args)

    def channel(self, protocol: str, dp: int = 0) -> Channel:
        """Return a channel, for simulations that look inside."""
        return self._replicas[dp][protocol]

    # -- helpers -------------------------------------------------------------------------------------------------

    def _channels(self, words: Words, dp: int, place: Callable[[str], Place]) -> dict[str, Channel]:
        config = self.config
        channels: dict[str, Channel] = {}
        for index, name in enumerate(BROADCASTS[config.kind]):
            base = self._words_base(dp, name)
            depth = config.depth if index == 0 else 1
            if self._rings is not None:
                memory = self._rings(dp, name, depth)
                channels[name] = RingChannel(place(name), memory, config.max_batch_bytes, main=index == 0)
                continue
            channels[name] = DispatchChannel(
                place(name), config.tp_size, depth, words[base : base + 1 + config.tp_size]
            )
        for name in GATES[config.kind]:
            channels[name] = GateChannel(place(name), config.tp_size)
        for name in FIFOS[config.kind]:
            channels[name] = FifoChannel(place(name))
        if NOTES[config.kind]:
            channels["notes"] = NotesChannel(place("notes"), NOTES[config.kind])
        for name in CONTROLS[config.kind]:
            channels[name] = controls.CHANNELS[name](place(name), config.tp_size)
        for group, barriers in BARRIER_GROUPS[config.kind].items():
            name = f"barriers.{group}"
            make = self._meetings or BarrierChannel
            channels[name] = make(place(name), barriers, config.tp_size)
        return channels

    def _words_base(self, dp: int, protocol: str) -> int:
        names, ranks = BROADCASTS[self.config.kind], self.config.tp_size
        if protocol == _LOOPS:
            return self.config.dp_size * len(names) * (1 + ranks) + dp * beats.words_for(ranks)
        return (dp * len(names) + names.index(protocol)) * (1 + ranks)

    def _check(self, hello: Hello) -> None:
        config = self.config
        if hello["version"] != PROTOCOL_VERSION:
            raise ConfigError(
                f"the host speaks protocol version {PROTOCOL_VERSION} and this client {hello['version']}; "
                "use the same fdcomm version on both sides"
            )
        if hello["kind"] != config.kind:
            raise ConfigError(f"the host serves a {config.kind} queue, and this client is for a {hello['kind']} queue")
        if hello["num_client"] != config.tp_size:
            raise ConfigError(
                f"num_client={hello['num_client']}, but the host was started with num_client={config.tp_size}"
            )
        if not -1 <= hello["client_id"] < config.tp_size:
            raise RankError(f"client_id={hello['client_id']} is outside 0 <= client_id < {config.tp_size}")
        if not 0 <= hello["dp_rank"] < config.dp_size:
            raise ConfigError(
                f"local_data_parallel_id={hello['dp_rank']} is outside "
                f"0 <= local_data_parallel_id < {config.dp_size}, the host's local_data_parallel_size"
            )

    def _end(self, session: int, *, lost: bool) -> None:
        dp = self._replica_of.pop(session, None)
        if dp is not None:
            channels = self._replicas[dp].values()
            acted = lost and any(channel.has_acted(session) for channel in channels)
            for channel in channels:
                channel.close_session(session, lost=lost, acted=acted)
