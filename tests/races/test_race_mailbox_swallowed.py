"""mailbox-swallowed: a send fails, the error is logged, and the results are gone."""

from tests.races.mailbox_race import MailboxOurs, MailboxRace
from tests.races.shipped_mailbox import ShippedMailbox, ShippedWire


def shipped() -> str:
    wire = ShippedWire()
    mailbox = ShippedMailbox(wire)
    mailbox.handle("r", b"a", lambda result: False)
    send, fails = wire.send, [True]

    def failing(client: bytes, results: object) -> None:
        if fails:
            fails.pop()
            raise ConnectionError("no room")
        send(client, list(results))  # type: ignore[call-overload]

    wire.send = failing  # type: ignore[method-assign]
    logged = []
    for number in (1, 2):
        try:
            mailbox.put("r", [number], last=number == 2)
        except ConnectionError as error:  # send_response logs it, and returns
            logged.append(error)
    return "" if wire.got == {b"a": [1, 2]} else f"the client has got {wire.got}, and nobody was told"


def ours(variant: MailboxOurs) -> str:
    variant.handle()
    variant.wire.slow.add(b"a")
    told = variant.put(1)
    variant.wire.slow.clear()
    after = variant.put(2, last=True)
    lost = [tuple(one) for one in variant.undelivered]
    wanted = ("CommTimeoutError", "UndeliverableError", [("r", 1, "late")])
    return "" if (told, after, lost) == wanted else f"told {told}, {after}, {lost}"


RACE = MailboxRace(("mailbox-swallowed",), shipped, ours, "{b'a': [2]}, and nobody was told")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
