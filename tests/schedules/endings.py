"""Programs over the shipping host service in which a session, or the host, ends while others wait."""

from __future__ import annotations

from fdcomm.errors import FencedError, HostLostError, PeerLostError
from fdcomm.testing import ControlledRuntime, Scenario
from tests.schedules.testbed import Testbed

__all__ = ("close_while_it_waits", "end_of_the_host", "fence_of_a_producer", "fence_of_a_rank")


def fence_of_a_rank(runtime: ControlledRuntime) -> Scenario:
    """A rank's connection is lost while a put waits for it: PeerLostError, then a new reader, then all goes on."""
    bed = Testbed(runtime, 2)
    engine, readers = bed.session(0, "producer"), bed.readers()
    bed.put(engine, 0.0)
    answers: list[int] = []

    def put() -> None:
        with bed.expect(PeerLostError):
            answers.append(bed.put(engine))

    def survivor() -> None:
        bed.get(readers[0], 0)

    def network() -> None:
        bed.service.lose_session(readers[1])

    def final() -> None:
        # Rank 1 reads nothing any more, so batch 1 keeps the queue full: the put can only end with the error.
        assert bed.raised == ["PeerLostError"], f"put answered {answers}"
        again = bed.session(1, "reader")
        # What rank 0 has started without it is not for the new reader, and room for the next.
        assert bed.core.num_tasks() == 0
        bed.put(engine, 0.0)
        assert bed.get(again, 1, 0.0) == bed.get(readers[0], 0, 0.0) != 0

    return bed.scenario({"put": put, "survivor": survivor, "network": network}, final)


def fence_of_a_producer(runtime: ControlledRuntime) -> Scenario:
    """A producer's connection is lost while its put waits: the call is withdrawn, and the next one gets its turn."""
    bed = Testbed(runtime, 1, depth=2)
    dying, living = bed.session(0, "producer"), bed.session(0, "producer")
    (reader,) = bed.readers()
    bed.put(living, 0.0)

    def put_dying() -> None:
        with bed.expect(FencedError):
            bed.put(dying)

    def put_living() -> None:
        bed.put(living)

    def network() -> None:
        bed.service.lose_session(dying)

    def read() -> None:
        bed.get(reader, 0)

    def final() -> None:
        assert not bed.core.waiting, "a call waits that nobody made"
        while bed.get(reader, 0, 0.0):
            pass
        assert len(bed.got[0]) + len(bed.raised) == 3, f"got {bed.got[0]}, raised {bed.raised}"

    return bed.scenario({"put dying": put_dying, "put living": put_living, "network": network, "read": read}, final)


def close_while_it_waits(runtime: ControlledRuntime, method: str) -> Scenario:
    """One thread closes a session while another one waits in it: FencedError, and nothing of the call stays."""
    bed = Testbed(runtime, 1)
    other, (reader,) = bed.session(0, "producer"), bed.readers()
    mine = bed.session(0, "producer") if method == "put" else reader
    if method == "put":
        bed.put(other, 0.0)
    answers: list[int] = []

    def call() -> None:
        with bed.expect(FencedError):
            answers.append(bed.put(mine) if method == "put" else bed.get(mine, 0))

    def close() -> None:
        bed.service.close_session(mine)

    def final() -> None:
        assert bed.raised == ["FencedError"], f"the call answered {answers}"
        assert not bed.core.waiting
        assert bed.service.act(other, "dispatch", "view")["sessions"] == (2 if method == "put" else 1)
        if method == "put":
            assert bed.get(reader, 0, 0.0) == 1
            bed.put(other, 0.0)

    return bed.scenario({"call": call, "close": close}, final)


def end_of_the_host(runtime: ControlledRuntime) -> Scenario:
    """The host ends while a put and a get wait: both are told."""
    bed = Testbed(runtime, 2)
    engine, readers = bed.session(0, "producer"), bed.readers()
    bed.put(engine, 0.0)
    bed.get(readers[0], 0)

    def put() -> None:
        with bed.expect(HostLostError):
            bed.put(engine)

    def read() -> None:
        with bed.expect(HostLostError):
            bed.get(readers[0], 0)

    def final() -> None:
        assert bed.raised == ["HostLostError"] * 2, f"raised {bed.raised}"

    return bed.scenario({"put": put, "read": read, "end": bed.service.shut_down}, final)
