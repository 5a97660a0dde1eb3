"""mailbox-flush-and-send: a client asks again while its results are being flushed, and they are flushed twice."""

from tests.races.mailbox_race import MailboxOurs, MailboxRace
from tests.races.shipped_mailbox import ShippedMailbox, ShippedWire


def shipped() -> str:
    wire = ShippedWire()
    mailbox = ShippedMailbox(wire)
    for number in (1, 2):
        mailbox.put("r", [number], last=number == 2)
    again = [lambda: mailbox.handle("r", b"a", lambda result: result == 2)]

    def between() -> None:
        """The other thread comes when the results are sent and the cache is not yet empty."""
        if wire.got and again:
            again.pop()()

    mailbox.step = between
    mailbox.handle("r", b"a", lambda result: result == 2)
    return "" if wire.got == {b"a": [1, 2]} else f"the client has got {wire.got[b'a']}"


def ours(variant: MailboxOurs) -> str:
    for number in (1, 2):
        variant.put(number, last=number == 2)
    again = [variant.handle]
    variant.wire.during = lambda: again.pop()() if again else None  # type: ignore[assignment]
    variant.handle()
    return "" if variant.got() == {b"a": [1, 2]} and not again else f"the client has got {variant.got()}"


RACE = MailboxRace(("mailbox-flush-and-send",), shipped, ours, "the client has got [1, 2, 1, 2]")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
