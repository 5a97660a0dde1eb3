"""B72: results come faster than they are taken, and are kept without a limit."""

from tests.races.mailbox_race import MailboxOurs, MailboxRace
from tests.races.shipped_mailbox import ShippedMailbox, ShippedWire


def shipped() -> str:
    mailbox = ShippedMailbox(ShippedWire())
    for number in range(1000):
        mailbox.put("r", [number], last=False)
    kept = len(mailbox.cached["r"])
    return f"{kept} results are kept" if kept > 10 else ""


def ours(variant: MailboxOurs) -> str:
    told = [variant.put(number) for number in range(11)]
    kept = variant.results.statistics().kept
    return "" if (told, kept) == ([""] * 10 + ["CommTimeoutError"], 10) else f"told {told}, {kept} are kept"


RACE = MailboxRace(("B72",), shipped, ours, "1000 results are kept")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
