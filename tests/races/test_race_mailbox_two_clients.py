"""mailbox-two-clients: a second client names the same request, and gets the rest of its results."""

from tests.races.mailbox_race import MailboxOurs, MailboxRace
from tests.races.shipped_mailbox import ShippedMailbox, ShippedWire


def shipped() -> str:
    mailbox = ShippedMailbox(ShippedWire())
    for number, client in ((1, b"a"), (2, b"b")):
        mailbox.handle("r", client, lambda result: False)
        mailbox.put("r", [number], last=number == 2)
    return "" if len(mailbox.wire.got) == 1 else f"two clients have got {mailbox.wire.got}"


def ours(variant: MailboxOurs) -> str:
    for number, client in ((1, b"a"), (2, b"b")):
        variant.handle(client)
        variant.put(number, last=number == 2)
    refused = variant.results.statistics().refused_handles
    return "" if variant.got() == {b"a": [1, 2]} and refused == 1 else f"{variant.got()}, {refused} refused"


RACE = MailboxRace(("mailbox-two-clients",), shipped, ours, "two clients have got {b'a': [1], b'b': [2]}")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
