"""Who is ready, who is stuck, who is gone: parts say so, and whoever needs them waits, or looks.

Protocol: ``spec/readiness.toml``, docs/protocols/readiness.md.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from fdcomm import arguments
from fdcomm.deadline import DEFAULT, Deadline, Timeout, timeout_seconds
from fdcomm.errors import ConfigError, FdcommError
from fdcomm.handle import Handle, handle_of
from fdcomm.readiness_part import PROTOCOL, PartLoop
from fdcomm.readiness_results import PartHealth, Progress, parts_of, why
from fdcomm.signals.arguments import mirrored

__all__ = ("DEFAULT_LIMIT_S", "PartHealth", "Progress", "Readiness", "wanted")

DEFAULT_LIMIT_S: Final = 30.0
_tokens = itertools.count(1)


class Readiness:
    """A process's share in the readiness protocol of the replica that a queue serves.

    Any process that has a handle to the queue may declare, wait and look. A process that is a part says so with
    :meth:`starting` or :meth:`ready`, and is that part until it leaves or ends; another live process of the same part
    is refused. A process with several parts has one object for each.
    """

    def __init__(self, queue: Handle, *, limit: float | None = DEFAULT_LIMIT_S) -> None:
        """Take part through a handle, which must stay open.

        Args:
            queue: Of either kind.
            limit: In how many seconds the loop of this process comes round, at most: a ready part that has not called
                :meth:`beat` for longer is stuck. None: it has no loop, and counts as ready as long as it lives.
        """
        self._queue = handle_of(queue, "Readiness")
        self._limit = _checked_limit(limit, "limit")
        self._loop = PartLoop(queue)

    # -- components ----------------------------------------------------------------------------------------------

    def declare(self, components: Sequence[tuple[Any, ...]]) -> None:
        """Say which components there are, and the launch order. Every process may; all must say the same.

        Args:
            components: (name, parts) or (name, parts, names) of each: 0 parts means one for each rank, and ``names``
                are the components that it needs first.

        Raises:
            ConfigError: They need each other in a circle, or this contradicts an earlier declaration.
        """
        name = "readiness.declare"
        chosen = [_three(one) for one in arguments.several(components, "components", name)]
        self._queue._act(PROTOCOL, "declare", chosen, name=name)

    def mirror(
        self, component: str, name: str, suffix: int | str | None = None, *, directory: str | None = None
    ) -> None:
        """Have the host write a component's readiness into an :class:`IPCSignal` of int32, for readers of plain words.

        A signal with a word for each part has 1 where the part is ready; one of a single word has 1 while all are.
        The signal must be there: the engine makes it. From then on only the host may write it. A part that dies, or
        takes its readiness back, is 0 there. A loop that stands still is not seen in these words.

        Raises:
            SignalError: No signal has the name, or it holds something else than integers.
            ConfigError: It has more than one word, and fewer than the component has parts.
        """
        where = mirrored(component, name, suffix, directory, "readiness.mirror")
        self._queue._act(PROTOCOL, "mirror", *where, name="readiness.mirror")

    # -- a part --------------------------------------------------------------------------------------------------

    def starting(
        self, component: str, rank: int | None = None, *, stage: str = "", fraction: float | None = None
    ) -> None:
        """This process is a part that comes up; call it again with each stage. Who waits sees it. Join, Withdraw.

        A part that was ready is not any more, and one that has failed tries again.

        Args:
            component: One that was declared.
            rank: Which part of it; the handle's ``client_id`` by default.
            stage: What it does now, for people.
            fraction: How far it is with that, from 0 to 1.

        Raises:
            DuplicateRankError: Another live process is this part.
            ConfigError: The components were not declared, or have no such part.
        """
        if fraction is not None and (
            arguments.is_truth(fraction) or not (isinstance(fraction, (int, float)) and 0 <= fraction <= 1)
        ):
            raise ConfigError(f"readiness.starting: fraction={fraction!r} is not a number from 0 to 1")
        self._loop.begin(self._party(component, rank, "readiness.starting"), str(stage), fraction)

    def ready(self, component: str | None = None, rank: int | None = None, *, limit: Timeout = DEFAULT) -> None:
        """The part serves from now on, and its loop calls :meth:`beat`. Join, Ready.

        Args:
            component: As for :meth:`starting`; not needed after it.
            rank: The same.
            limit: Of this time, instead of the object's own.

        Raises:
            ProtocolViolationError: It has failed: it begins anew with :meth:`starting`. Or no part was named.
            DuplicateRankError: Another live process is this part.
        """
        name = "readiness.ready"
        if component is None:
            component, own = self._loop.party(name)
            rank = own if rank is None else rank
        party = self._party(component, rank, name)
        self._loop.ready(party, self._limit if limit is DEFAULT else _checked_limit(limit, name))

    def _party(self, component: str, rank: int | None, name: str) -> tuple[str, int]:
        own = self._queue.client_id if rank is None else arguments.number(rank, "rank", name)
        return arguments.text(component, "component", name), own

    def failed(self, reason: str) -> None:
        """The part cannot serve: whoever waits for it is told the reason at once. It may try again. Fail."""
        self._loop.act("fail", "readiness.failed", str(reason))

    def withdraw(self, reason: str = "") -> None:
        """The part serves no more for a while: it reloads its weights, say. Nobody takes it for stuck. Withdraw.

        It is ready again with :meth:`ready`.
        """
        party = self._loop.party("readiness.withdraw")
        self._loop.begin(party, str(reason), None)

    def leave(self) -> None:
        """The part ends in peace; the handle stays open. A process that just ends, or closes its handle, need not."""
        self._loop.act("leave", "readiness.leave")
        self._loop.forget()

    def beat(self) -> None:
        """The loop of the part has come round: call it in the loop itself. No round trip and no lock.

        Raises:
            HostLostError: The host is gone, or has lost this process; looked at ten times a second.
            ProtocolViolationError: No part was named yet.
        """
        self._loop.beat()

    # -- whoever needs parts -------------------------------------------------------------------------------------

    def wait(
        self,
        components: str | Iterable[str],
        *,
        timeout: Timeout = DEFAULT,
        progress: Progress | None = None,
        restarts: bool = False,
    ) -> None:
        """Wait until every part of these components is ready.

        A part that waits for others does so through the handle with which it is a part, so that a wait against the
        launch order is refused at once.

        Args:
            components: Their names.
            timeout: Seconds. 0: only look.
            progress: Is told of the parts that are not ready.
            restarts: Somebody starts parts anew that fail or die: wait for that, instead of an error.

        Raises:
            StartFailedError: A part says that it cannot serve; the text has its reason. Not with ``restarts``.
            PeerLostError: The process of a part is gone. Not with ``restarts``.
            CommTimeoutError: Not all were ready in time. The text names those that are not, and what they are instead;
                so does ``request`` of all three: (component, rank, health) of each.
            ProtocolViolationError: This process is a part that the components need first, and not ready.
        """
        self._wait(next(_tokens), components, timeout, progress, restarts=restarts)

    def check(self, *components: str) -> None:
        """Raise, as :meth:`wait` does, unless every part of these components is ready now. One round trip.

        For whoever accepts requests: parts that are gone, stuck or reloading are an error with a reason, at once.
        """
        self.wait(components, timeout=0.0)

    def health(self) -> tuple[PartHealth, ...]:
        """Return what is known of every part. One round trip."""
        return parts_of(self.statistics()["parts"])

    def watch(self, seen: Mapping[str, Any] | None = None, *, timeout: Timeout = DEFAULT) -> dict[str, Any]:
        """Return :meth:`statistics` as soon as something is not as in ``seen``, an earlier answer; or after the time.

        A loop that stands still, or goes on, is a change too.
        """
        limit = timeout_seconds(timeout, "readiness.watch")
        changes = arguments.changes(seen, "readiness.watch")
        found: dict[str, Any] = self._queue._act(
            PROTOCOL, "watch", changes, limit, timeout=limit, name="readiness.watch"
        )
        return found

    def statistics(self) -> dict[str, Any]:
        """Return a snapshot: every part, and what the open waits are for. One round trip."""
        return self._queue._view(PROTOCOL, name="readiness.statistics")

    # -- helpers -------------------------------------------------------------------------------------------------

    def _wait(
        self,
        token: int,
        components: str | Iterable[str],
        timeout: Timeout,
        progress: Progress | None = None,
        *,
        restarts: bool = False,
    ) -> None:
        name = "readiness.wait"
        names, restarts = wanted(components, progress, restarts, name)
        limit = timeout_seconds(timeout, name)
        deadline = Deadline(limit, self._queue._runtime.monotonic)
        seen: int | None = None if progress is None else -1
        try:
            while True:
                end = self._step(token, names, deadline.remaining(), restarts, seen)
                if end["outcome"] != "open":
                    break
                if progress is not None:
                    progress(parts_of(end["parts"]))
                    seen = end["changes"]
        except BaseException:
            self._give_up(token)
            raise
        if end["outcome"] != "done":
            raise why(name, end, limit)

    def _step(
        self, token: int, names: list[str], left: float | None, restarts: bool, seen: int | None
    ) -> dict[str, Any]:
        """Wait for the end of a wait, or with ``seen`` for something new; the wait is open in the host then."""
        args = (token, names, left, restarts, seen)
        end: dict[str, Any] = self._queue._act(PROTOCOL, "wait", *args, timeout=left, name="readiness.wait")
        return end

    def _give_up(self, token: int) -> bool:
        """End a wait in the host. False: there was none to end."""
        try:
            return bool(self._queue._act(PROTOCOL, "cancel", token, name="readiness.cancel"))
        except FdcommError:  # the handle or the host is gone, and the wait with it
            return False


def wanted(components: object, progress: object, restarts: object, name: str) -> tuple[list[str], bool]:
    """Return the names of the components that a wait is for, and whether restarted parts count.

    Raises:
        ConfigError: An argument is of the wrong type.
    """
    names = [components] if isinstance(components, str) else list(arguments.texts(components, "components", name))
    if progress is not None:
        arguments.function(progress, "progress", name)
    return names, arguments.flag(restarts, "restarts", name)


def _three(one: object) -> tuple[str, int, list[str]]:
    name = "readiness.declare"
    if isinstance(one, (tuple, list)) and 2 <= len(one) <= 3 and not isinstance(one[-1], str):
        needs = arguments.texts(one[2], "needs", name) if len(one) == 3 else ()
        return arguments.text(one[0], "component", name), arguments.number(one[1], "parts", name), list(needs)
    raise ConfigError(f"{name}: {one!r} must be (name, parts) or (name, parts, [names])")


def _checked_limit(limit: Any, name: str) -> float | None:
    seconds = timeout_seconds(limit, name)
    if seconds == 0:
        raise ConfigError(f"{name}: a limit of 0 s would make every part stuck; give seconds, or None for no loop")
    return seconds
