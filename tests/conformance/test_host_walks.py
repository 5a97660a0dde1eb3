"""A sample of the model's behaviours through a real host and real handles."""

from __future__ import annotations

import pytest

from models.dispatch import Config, Dispatch
from tests.conformance.core_edges import Deviation
from tests.conformance.host_driver import Channels, HostDriver
from tests.conformance.host_walks import drive_host
from tests.conformance.plans import HOST, HOST_TWO_PRODUCERS
from tests.conformance.ring_driver import PRODUCERS, RingChannels, RingDriver

pytestmark = pytest.mark.multiproc
EVENTS = set(Dispatch().actions) - {"Crash", "CrashProducer"}


@pytest.mark.parametrize("config", [HOST, HOST_TWO_PRODUCERS], ids=["one producer", "two producers"])
def test_a_real_host_follows_the_model(config: object, seed: int) -> None:
    print(f"seed {seed}")
    assert isinstance(config, type(HOST))
    coverage = drive_host(config, seed, walks=12, length=25)
    assert coverage.moves > 150
    assert coverage.events > 300


@pytest.mark.parametrize(
    "remote", [frozenset(), frozenset({1}), frozenset({PRODUCERS}), frozenset({0, 1, PRODUCERS})], ids=str
)
@pytest.mark.parametrize("config", [HOST, HOST_TWO_PRODUCERS], ids=["one producer", "two producers"])
def test_a_queue_over_a_ring_follows_the_same_model(config: Config, remote: frozenset[int], seed: int) -> None:
    """Also where some ranks, or producers, do not reach the memory: one put, each rank once, in order."""
    print(f"seed {seed}")
    coverage = drive_host(config, seed, walks=4, length=25, ring=True, remote=remote)
    assert coverage.moves > 60


def test_a_queue_over_a_ring_that_does_something_else_is_noticed() -> None:
    channels = RingChannels(HOST.ranks, HOST.depth, 2)
    try:
        driver = RingDriver(channels, HOST)
        driver.observer.put_tasks("more")  # the model does not know of it
        with pytest.raises(AssertionError, match="unread: the host says"):
            driver.compare()
        driver.close()
    finally:
        channels.close()


def test_a_fixed_sample_has_every_event() -> None:
    names = set(drive_host(HOST, 1, walks=12, length=25).actions)
    assert names == EVENTS


def test_a_host_that_does_something_else_is_noticed() -> None:
    channels = Channels(HOST.ranks, HOST.depth, 2)
    try:
        driver = HostDriver(channels, HOST)
        driver.observer.clear_data()  # the model does not know of it
        with pytest.raises(AssertionError, match="epoch: the host says 1, the model says 0"):
            driver.compare()
        driver.close()
    finally:
        channels.close()


def test_a_deviation_names_the_behaviour(monkeypatch: pytest.MonkeyPatch) -> None:
    leave = Dispatch.leave
    # A model in which nobody leaves who leaves.
    monkeypatch.setattr(Dispatch, "leave", lambda self, s: iter([(step, s) for step, _ in leave(self, s)]))
    with pytest.raises(Deviation, match=r"in the behaviour .*Leave"):
        drive_host(HOST, 1, walks=3, length=40)
