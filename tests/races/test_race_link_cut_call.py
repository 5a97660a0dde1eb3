"""A connection breaks after the host has done a call, and before its answer has come.

The published client gets an error, does not know whether the batch is there, and puts it again: it is run twice. Ours
sends the call again, and the host, which has done it, sends the answer again.
"""

import threading

import pytest

from tests.faults.remote import until
from tests.races.link_race import LinkOurs, LinkRace, relay_to, through
from tests.races.variants import Shipped

pytestmark = pytest.mark.multiproc


def shipped(variant: Shipped) -> str:
    relay = relay_to(variant)
    reader = variant.reader(0)
    held = []

    def cut(step: str) -> None:
        if step == "put.release":  # the host gives the lock back; the answer is lost with the connection
            relay.hold_answers()
            held.append(step)

    engine = through(variant, relay, 0, hook=cut)

    def lose() -> None:
        until(lambda: held and reader.exist_tasks() and reader._lock.acquire(False), "the put is done")
        reader._lock.release()
        relay.cut()

    loser = threading.Thread(target=lose)
    loser.start()
    try:
        engine.put_tasks("A")
    except (OSError, EOFError):
        pass
    else:
        return ""
    finally:
        loser.join()
    relay.heal()
    got = reader.get_tasks()[0]
    variant.engine().put_tasks("A")  # as a caller does whose put has failed
    again = reader.get_tasks()[0]
    return f"the batch is run twice: {got} and {again}" if got == again == ["A"] else ""


def ours(variant: LinkOurs) -> str:
    engine = variant.client(0, "producer", grace_s=60.0)
    reader = variant.client(0, "reader", relayed=False)
    variant.relay.hold_answers()

    def lose() -> None:
        until(lambda: reader.exist_tasks(), "the put is done")
        variant.relay.cut()
        variant.relay.heal()

    loser = threading.Thread(target=lose)
    loser.start()
    engine.put_tasks("A", timeout=60.0)
    loser.join()
    got, rest = reader.get_tasks()[0], reader.get_tasks()[0]
    return "" if (got, rest) == (["A"], []) else f"the reader has got {got} and {rest}"


RACE = LinkRace(("link-cut-call",), shipped, ours, "run twice", ranks=1, tcp=True)


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
