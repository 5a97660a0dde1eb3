"""mailbox-never-asked: no client asks for the results, and they are kept for ever."""

from tests.races.mailbox_race import MailboxOurs, MailboxRace
from tests.races.shipped_mailbox import ShippedMailbox, ShippedWire


def shipped() -> str:
    mailbox = ShippedMailbox(ShippedWire())
    mailbox.put("r", [1], last=True)
    # Nothing in the published server looks at the cache but a handle of this request.
    return f"{mailbox.cached} is kept" if mailbox.cached else ""


def ours(variant: MailboxOurs) -> str:
    variant.put(1, last=True)
    variant.now += 10.0
    variant.results.expire()
    found = variant.results.statistics()
    told = [tuple(lost) for lost in variant.undelivered]
    return "" if (found.kept, found.open, told) == (0, 0, [("r", 1, "expired")]) else f"{found}, told {told}"


RACE = MailboxRace(("mailbox-never-asked",), shipped, ours, "{'r': [1]} is kept")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
