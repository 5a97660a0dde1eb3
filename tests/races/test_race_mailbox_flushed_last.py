"""mailbox-flushed-last: the last result goes out with others, and its request is not over."""

from tests.races.mailbox_race import MailboxOurs, MailboxRace
from tests.races.shipped_mailbox import ShippedMailbox, ShippedWire


def shipped() -> str:
    mailbox = ShippedMailbox(ShippedWire())
    mailbox.put("r", [1], last=False)
    unknown = not mailbox.known("r")
    mailbox.handle("r", b"a", lambda result: result == 2)
    if unknown:
        mailbox.append("r", [2])
    # Another result would send both, and nothing comes after the last one.
    return f"{mailbox.clients} and {mailbox.cached} are kept" if mailbox.clients else ""


def ours(variant: MailboxOurs) -> str:
    variant.put(1)
    variant.put(2, last=True)
    variant.handle()
    stage = variant.results.stage("r")
    return "" if (stage, variant.got()) == ("over", {b"a": [1, 2]}) else f"it is {stage}, {variant.got()}"


RACE = MailboxRace(("mailbox-flushed-last",), shipped, ours, "are kept")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
