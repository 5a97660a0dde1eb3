"""mailbox-late-handle: the handle of a request that is over is kept for ever."""

from tests.races.mailbox_race import MailboxOurs, MailboxRace
from tests.races.shipped_mailbox import ShippedMailbox, ShippedWire


def shipped() -> str:
    mailbox = ShippedMailbox(ShippedWire())
    for _ in range(2):
        mailbox.handle("r", b"a", lambda result: False)
        if not mailbox.wire.got:
            mailbox.put("r", [1], last=True)
    return f"{mailbox.clients} is kept" if mailbox.clients else ""


def ours(variant: MailboxOurs) -> str:
    variant.handle()
    variant.put(1, last=True)
    variant.handle()
    found = variant.results.statistics()
    return "" if (found.open, found.refused_handles) == (0, 1) else f"{found}"


RACE = MailboxRace(("mailbox-late-handle",), shipped, ours, "{'r': b'a'} is kept")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
