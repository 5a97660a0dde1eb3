"""The host's machine goes away without a word, while a client waits for an answer.

A published proxy reads from a connection on which nothing comes any more, without a limit. Ours says after its grace
that the host is lost.
"""

import pytest

from tests.races.link_race import LinkOurs, LinkRace, ended, relay_to, through
from tests.races.variants import Shipped

pytestmark = pytest.mark.multiproc


def shipped(variant: Shipped) -> str:
    relay = relay_to(variant)
    reader = through(variant, relay, 0)
    relay.partition()
    over, error = ended(reader.get_tasks)
    relay.cut()  # lets the thread go
    relay.heal()
    return error if over else "the call waits on"


def ours(variant: LinkOurs) -> str:
    reader = variant.client(0, "reader")
    variant.relay.partition()
    try:
        return f"it returned {reader.get_tasks(timeout=None)}"
    except Exception as error:  # noqa: BLE001 - reported
        return "" if type(error).__name__ == "HostLostError" else repr(error)


RACE = LinkRace(("link-silent-host",), shipped, ours, "waits on", ranks=1, tcp=True)


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
