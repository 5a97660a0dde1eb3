"""The host's object: what a client's remote calls reach. Sessions, and one dispatch channel per replica."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypedDict

from fdcomm.errors import ConfigError, PayloadTooLargeError, RankError
from fdcomm.host import refusals
from fdcomm.host.channel import DispatchChannel
from fdcomm.runtime import Runtime, Words
from fdcomm.trace import Recorder

__all__ = ("PROTOCOL_VERSION", "Hello", "HostConfig", "HostService", "Welcome", "words_per_channel")

PROTOCOL_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class HostConfig:
    """What a host is made of."""

    tp_size: int
    dp_size: int = 1
    depth: int = 1
    max_batch_bytes: int = 1 << 28

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


class Hello(TypedDict):
    """What a client says when it opens a session."""

    version: int
    num_client: int
    client_id: int
    dp_rank: int
    role: str | None
    pid: int


class Welcome(TypedDict):
    """What the host answers."""

    session: int
    instance: int
    tp_size: int
    dp_size: int
    depth: int
    max_batch_bytes: int
    words_path: str
    words_base: int


def words_per_channel(tp_size: int) -> int:
    """Return how many shared words one channel has: exist, and one ticket per rank."""
    return 1 + tp_size


class HostService:
    """All protocols of one host. Thread-safe; every method is one critical section of one channel.

    Args:
        config: Sizes.
        runtime: Threads, time and shared words.
        words: At least ``dp_size * words_per_channel(tp_size)`` shared words.
        recorder: Where events go; None records nothing.
        is_connected: Says whether a session's connection is still open. Asked when another process claims its rank,
            so that a restarted rank need not wait until the host has noticed the end of the old one.
        instance: Random number that tells this host from an earlier one at the same address.
        words_path: Where clients on this machine can map ``words``; "" when they cannot.
    """

    def __init__(
        self,
        config: HostConfig,
        runtime: Runtime,
        words: Words,
        *,
        recorder: Recorder | None = None,
        is_connected: Callable[[int], bool] = lambda session: True,
        instance: int = 0,
        words_path: str = "",
    ) -> None:
        config.check()
        self.config = config
        self._instance = instance
        self._words_path = words_path
        self._sessions: dict[int, DispatchChannel] = {}
        self._next_session = itertools.count(1)
        size = words_per_channel(config.tp_size)
        self._channels = [
            DispatchChannel(
                dp, config.tp_size, config.depth, runtime, words[dp * size : (dp + 1) * size], recorder, is_connected
            )
            for dp in range(config.dp_size)
        ]

    def open_session(self, hello: Hello) -> Welcome:
        """Open a session. Its incarnation, the session number, is never used again."""
        config = self.config
        if hello["version"] != PROTOCOL_VERSION:
            raise ConfigError(
                f"the host speaks protocol version {PROTOCOL_VERSION} and this client {hello['version']}; "
                "use the same fdcomm version on both sides"
            )
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
        session = next(self._next_session)
        dp = hello["dp_rank"]
        channel = self._channels[dp]
        channel.open(session, hello["client_id"], hello["role"], f"pid {hello['pid']} (session {session})")
        self._sessions[session] = channel
        return Welcome(
            session=session,
            instance=self._instance,
            tp_size=config.tp_size,
            dp_size=config.dp_size,
            depth=config.depth,
            max_batch_bytes=config.max_batch_bytes,
            words_path=self._words_path,
            words_base=dp * words_per_channel(config.tp_size),
        )

    def close_session(self, session: int) -> None:
        """End a session in peace (Leave, Disconnect). Idempotent."""
        channel = self._sessions.pop(session, None)
        if channel is not None:
            channel.close_session(session, lost=False)

    def lose_session(self, session: int) -> None:
        """The session's connection is gone: fence what it was (Fence, FenceProducer). Idempotent."""
        channel = self._sessions.pop(session, None)
        if channel is not None:
            channel.close_session(session, lost=True)

    def shut_down(self) -> None:
        """Wake every waiting call with HostLostError."""
        for channel in self._channels:
            channel.shut_down()

    def put_tasks(self, session: int, payload: bytes, timeout: float | None) -> int:
        """See :meth:`DispatchChannel.put_tasks`."""
        if len(payload) > self.config.max_batch_bytes:
            raise PayloadTooLargeError(
                f"put_tasks: the batch has {len(payload)} bytes, the host allows {self.config.max_batch_bytes}",
                operation="put_tasks",
            )
        return self._channel(session, "put_tasks").put_tasks(session, payload, timeout)

    def get_tasks(self, session: int, ticket: int, timeout: float | None) -> tuple[int, bytes | None, bool]:
        """See :meth:`DispatchChannel.get_tasks`."""
        return self._channel(session, "get_tasks").get_tasks(session, ticket, timeout)

    def clear_data(self, session: int) -> None:
        """See :meth:`DispatchChannel.clear_data`."""
        self._channel(session, "clear_data").clear_data(session)

    def set_exist_tasks(self, session: int, flag: bool) -> None:
        """See :meth:`DispatchChannel.set_exist_tasks`."""
        self._channel(session, "set_exist_tasks").set_exist_tasks(session, flag)

    def view(self, session: int) -> dict[str, Any]:
        """See :meth:`DispatchChannel.view`."""
        return self._channel(session, "statistics").view(session)

    def _channel(self, session: int, operation: str) -> DispatchChannel:
        channel = self._sessions.get(session)
        if channel is None:
            raise refusals.fenced(operation)
        return channel
