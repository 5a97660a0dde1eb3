"""mailbox-left-behind, mailbox-look-append: a handle comes between the look and the append, and the result stays."""

from tests.races.mailbox_race import MailboxOurs, MailboxRace
from tests.races.shipped_mailbox import ShippedMailbox, ShippedWire


def shipped() -> str:
    mailbox = ShippedMailbox(ShippedWire())
    if not mailbox.known("r"):
        mailbox.handle("r", b"a", lambda result: result == 1)
        mailbox.append("r", [1])
    return "" if mailbox.wire.got else f"the client has got nothing, and {mailbox.cached} is kept"


def ours(variant: MailboxOurs) -> str:
    """The second result is put while the first one is being sent, and nothing comes after it."""
    variant.handle()
    more = [lambda: variant.put(2, last=True)]
    variant.wire.during = lambda: more.pop()() if more else None  # type: ignore[assignment]
    variant.put(1)
    return "" if variant.got() == {b"a": [1, 2]} else f"the client has got {variant.got()}"


RACE = MailboxRace(("mailbox-left-behind", "mailbox-look-append"), shipped, ours, "{'r': [1]} is kept")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
