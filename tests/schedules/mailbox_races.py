"""The published server's threads beside ours, for the same scenarios. Nothing is corrected here."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fdcomm.testing import Bound, ControlledRuntime, Program, Scenario
from tests.races.shipped_mailbox import ShippedMailbox, ShippedWire
from tests.schedules.mailbox_programs import asking, whole_messages

__all__ = ("RACES", "race")


def _look_append(runtime: ControlledRuntime, *, shipped: bool) -> Scenario:
    """A handle comes between the look of the token thread and its append: the last result stays in the cache."""
    if not shipped:
        return asking(runtime, results=2)
    wire = ShippedWire()
    mailbox = ShippedMailbox(wire, lambda: runtime.access("mailbox", change=True))

    def tokens() -> None:
        mailbox.put("r", [1], last=False)
        mailbox.put("r", [2], last=True)

    def final() -> None:
        assert wire.got.get(b"a") == [1, 2], f"the client has got {wire.got}, and {mailbox.cached} is kept"

    tasks = {"tokens": tokens, "handles": lambda: mailbox.handle("r", b"a", lambda result: result == 2)}
    return Scenario(tasks, final=final)


def _mixed_parts(runtime: ControlledRuntime, *, shipped: bool) -> Scenario:
    """Two threads send messages of three parts over one socket."""
    if not shipped:
        return whole_messages(runtime)
    wire = ShippedWire(lambda: runtime.access("wire", change=True))

    def final() -> None:
        a, b = ["a1", "a2", "a3"], ["b1", "b2", "b3"]
        assert wire.parts in (a + b, b + a), f"on the wire are {wire.parts}"

    tasks = {name: partial(wire.send_parts, [f"{name}1", f"{name}2", f"{name}3"]) for name in "ab"}
    return Scenario(tasks, final=final)


RACES: dict[str, tuple[Callable[..., Scenario], str, Bound]] = {
    "mailbox-look-append": (_look_append, "invariant", Bound(preemptions=2)),
    "B71": (_mixed_parts, "invariant", Bound(preemptions=1)),
}
"""Race -> its program, what it comes to on the published steps, and the bound."""


def race(name: str, *, shipped: bool) -> Program:
    """Return the program of a race, over the published steps or over ours."""
    build = RACES[name][0]
    return Program(f"{name}, {'shipped' if shipped else 'ours'}", lambda runtime: build(runtime, shipped=shipped), {})
