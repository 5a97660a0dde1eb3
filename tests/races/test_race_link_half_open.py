"""A machine goes away without a word: its connection stays open at the other end.

The published host waits for a message of a client that is gone, and the engine polls for its flag, without a limit.
Ours fences a handle of which nothing was heard for the grace, and the engine is told.
"""

import pytest

from fdcomm import FencedError, HostLostError, PeerLostError
from tests.races.link_race import LinkOurs, LinkRace, relay_to, through
from tests.races.shipped import Stuck
from tests.races.variants import Shipped

pytestmark = pytest.mark.multiproc


def shipped(variant: Shipped) -> str:
    relay = relay_to(variant)
    through(variant, relay, 0)
    relay.partition()
    engine = variant.engine()
    engine.put_tasks("first")
    try:
        engine.put_tasks("second")
    except Stuck as error:
        return str(error)
    finally:
        relay.heal()  # a proxy that is collected would wait for its answer
    return ""


def ours(variant: LinkOurs) -> str:
    reader = variant.client(0, "reader", grace_s=60.0)
    variant.relay.partition()
    engine = variant.client(0, "producer", relayed=False)
    try:
        engine.put_tasks("first", timeout=60.0)
        engine.put_tasks("second", timeout=60.0)
    except PeerLostError as error:
        if error.missing != (0,):
            return f"the error names {error.missing}"
    else:
        return "the engine is not told"
    variant.relay.heal()
    try:
        return f"a fenced reader got {reader.get_tasks()}"
    except (FencedError, HostLostError):
        return ""


RACE = LinkRace(("link-half-open",), shipped, ours, "still polls", ranks=1, tcp=True)


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
