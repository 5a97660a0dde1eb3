"""Who is ready, who is stuck and who is gone, of the parts of one replica. Spec: ``spec/readiness.toml``."""

from __future__ import annotations

from typing import Any, cast

from fdcomm.core.readiness import Party, Readiness
from fdcomm.deadline import Deadline
from fdcomm.errors import ConfigError
from fdcomm.host.members import Member, Place
from fdcomm.host.mirrors import Mirrors
from fdcomm.host.readiness_loops import LoopsChannel
from fdcomm.host.readiness_shape import checked
from fdcomm.host.readiness_waits import Waits

__all__ = ("ReadinessChannel",)


class ReadinessChannel(LoopsChannel):
    """The host's part: it knows what parts have said, looks at their words, and answers who waits."""

    def __init__(self, place: Place, ranks: int) -> None:
        self._mirrors: Mirrors[tuple[str, str]] = Mirrors("readiness")
        self._waits = Waits()
        super().__init__(place, ranks)

    # -- set-up --------------------------------------------------------------------------------------------------

    def declare(self, session: int, components: list[tuple[str, int, list[str]]]) -> None:
        """Say which components there are: (name, parts, what it needs first; 0 parts: one for each rank).

        Repeating it is harmless.

        Raises:
            ConfigError: They contradict each other, or an earlier declaration, or need each other in a circle.
        """
        wanted = checked(components, self._size)
        core = Readiness(wanted)
        with self._readable:
            self._member(session, "readiness.declare")
            if self._core is None:
                self._core, self._declared_as = core, wanted
                self._record("Declare", {"components": [[name, parts, [*needs]] for name, parts, needs in wanted]})
            elif self._declared_as != wanted:
                raise ConfigError(
                    f"readiness.declare: {wanted} contradicts what was declared before, {self._declared_as}"
                )

    def mirror(self, session: int, component: str, name: str, suffix: int | str | None, directory: str | None) -> None:
        """Write the component's readiness into a signal, now and whenever it changes.

        Raises:
            SignalError: The signal is not there, or is no array of int32.
        """
        operation = "readiness.mirror"
        with self._readable:
            self._member(session, operation)
            core = self._declared(operation)
            core.part(component, 0)
            parts = len(core.components[component].parts)
        mirror = self._mirrors.attach(component, parts, name, suffix, directory)
        with self._readable:
            try:
                self._member(session, operation)
            except BaseException:
                mirror.close()
                raise
            self._mirrors.set((component, name), mirror, self._serving()[component])

    # -- waits ---------------------------------------------------------------------------------------------------

    def wait(
        self, session: int, token: int, components: list[str], timeout: float | None, patient: bool, seen: int | None
    ) -> dict[str, Any]:
        """Wait, until the end of the wait, or (``seen`` is not None) until something has changed since ``seen``.

        Another call with the same ``token`` then goes on with the same wait.

        Returns:
            number, outcome, cancelled, parts (those that were not ready when it ended, or are not yet), changes.

        Raises:
            ProtocolViolationError: The session's part may not wait so: the launch order has it the other way round.
        """
        operation = "readiness.wait"
        self._runtime.point("Wait.enter")
        with self._readable:
            self._member(session, operation)
            core = self._declared(operation)
            key = (session, token)
            wait = self._waits.of(key)
            if wait is None:
                by_whom = self._by(session, components)
                wait = self._waits.begin(key, core.wait(list(components), patient=bool(patient), by=by_whom))
                by, names = wait.by, [*wait.names]
                who = {"by": [*by] if by else [], "components": names, "patient": int(wait.patient)}
                self._record("Wait", who, {"number": wait.number})
            self._follow(core)
            deadline = Deadline(timeout, self._runtime.monotonic)
            self._waits.call(key)
            try:
                while wait.outcome == "open" and seen in (None, self._changes):
                    if self._waits.is_cancelled(key) or deadline.expired():
                        self._expire(core, wait.number)
                        break
                    self._writable.wait(self._pause(core, deadline))
                    self._member(session, operation)
                    self._follow(core)
                self._member(session, operation)
            except BaseException:
                self._expire(core, wait.number)  # the host ends, or the session has
                self._waits.end(key)
                raise
            finally:
                self._waits.returned(key)
            answer = {
                "number": wait.number,
                "outcome": wait.outcome,
                "cancelled": self._waits.is_cancelled(key),
                "parts": self._waits.left(wait) if wait.outcome != "open" else self._unready(core, wait),
                "changes": self._changes,
            }
            if wait.outcome != "open":
                self._waits.end(key)
            return answer

    def cancel(self, session: int, token: int) -> bool:
        """Have the wait of this token end, if it is open: its call expires it, or, between two calls, this one."""
        with self._readable:
            self._member(session, "readiness.cancel")
            key = (session, token)
            wait = self._waits.cancel(key)
            if wait is None:
                return False
            if self._waits.is_called(key):
                self._wake_all()
            else:
                self._expire(cast("Readiness", self._core), wait.number)
                self._waits.end(key)
            return True

    def watch(self, session: int, seen: int, timeout: float | None) -> dict[str, Any]:
        """Return a snapshot as soon as something has changed since the one whose "changes" was ``seen``, or in time."""
        operation = "readiness.watch"
        with self._readable:
            self._member(session, operation)
            core = self._declared(operation)
            self._follow(core)
            deadline = Deadline(timeout, self._runtime.monotonic)
            while self._changes == seen and not deadline.expired():
                self._writable.wait(self._pause(core, deadline))
                self._member(session, operation)
                self._follow(core)
            return self._snapshot(core)

    def view(self, session: int) -> dict[str, Any]:
        """Return a snapshot: plain values only."""
        with self._readable:
            self._member(session, "readiness.view")
            core = self._declared("readiness.view")
            self._follow(core)
            return self._snapshot(core)

    def shut_down(self) -> None:
        """Wake everybody; the mirrors keep what they show."""
        super().shut_down()
        with self._readable:
            self._mirrors.close()

    # -- inside the critical section -----------------------------------------------------------------------------

    def _snapshot(self, core: Readiness) -> dict[str, Any]:
        return {
            "changes": self._changes,
            "parts": [self._shown(*party) for party in self._numbers(core)],
            "waiting": [[*wait.names] for wait in core.open.values()],
            "waits": core.asked,
            "mirrors": [{"component": component, **view} for (component, _), view in self._mirrors.view()],
        }

    def _unready(self, core: Readiness, wait: Any) -> list[dict[str, Any]]:
        return [self._shown(name, rank) for name, rank, part in core.awaited(wait) if not part.serves]

    def _by(self, session: int, components: list[str]) -> Party | None:
        """Return the part for which a session waits: one that it holds and that is not ready. All of them may."""
        core = cast("Readiness", self._core)
        mine = sorted(party for party, holder in self._parties.items() if holder == session)
        mine = [party for party in mine if core.part(*party).said != "ready"]
        for party in mine[1:]:
            core.check_order([name for name in components if name in core.components], *party)
        return mine[0] if mine else None

    def _follow(self, core: Readiness) -> None:
        """What is seen in the words, and everything that is due then."""
        changed = self._look(core)
        while True:
            before = dict(core.open)
            step = core.advance()
            if step is None:
                break
            action, number = step
            self._waits.note(before[number], self._unready(core, before[number]))
            self._record(action, {"number": number})
            changed = True
        if changed:
            self._changed()

    def _changed(self) -> None:
        """Tell who reads: first the mirrors, so that whoever is answered can rely on them."""
        self._changes += 1
        serving = self._serving()
        self._mirrors.show(lambda key: serving[key[0]])
        self._wake_all()

    def _serving(self) -> dict[str, list[bool]]:
        core = cast("Readiness", self._core)
        return {name: [part.said == "ready" for part in there.parts] for name, there in core.components.items()}

    def _expire(self, core: Readiness, number: int) -> None:
        wait = core.open.get(number)
        if wait is not None and core.expire(number):
            self._waits.note(wait, self._unready(core, wait))
            self._record("Expire", {"number": number})
            self._changed()

    def _exit(self, member: Member, *, lost: bool) -> None:
        core = self._core
        if core is None:
            return
        for party in sorted(party for party, session in self._parties.items() if session == member.session):
            self._drop(core, party, lost=lost)
        for wait in self._waits.of_session(member.session):
            self._expire(core, wait.number)

    def _after(self, core: Readiness) -> None:
        self._changed()
        self._follow(core)
