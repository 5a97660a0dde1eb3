"""SIGKILL of each party after each step of a rearrangement, and of the host: a reason, FREE, and a fresh start."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from fdcomm import EngineWorkerQueue, HostLostError, ProtocolViolationError, RearrangeEndedError
from fdcomm.testing.faults import VARIABLE
from tests.faults.rearrange_group import WAY, Group, opened
from tests.faults.remote import NIGHTLY, until

pytestmark = pytest.mark.multiproc

STEPS = [name for name, _ in WAY]


@pytest.fixture(scope="module")
def host() -> Iterator[EngineWorkerQueue]:
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=2) as server:
        yield server


def _ends(victim: str, step: str) -> str:
    """What becomes of a request whose party is killed after a step."""
    at = STEPS.index(step)
    committed = at >= STEPS.index("worker 1 here")
    if at >= STEPS.index("worker 1 done"):
        return "done"
    if victim == "requester" or at < STEPS.index("taken"):
        return "done"
    if victim == "coordinator":
        return "lost" if at < STEPS.index("declared") else "done"
    if victim.startswith("loader"):
        return "done" if committed else "lost"
    return "lost" if not committed or at < STEPS.index(f"{victim} done") else "done"


_BY_DEFAULT = [
    ("requester", "requested"),
    ("coordinator", "taken"),
    ("coordinator", "load 1 reported"),
    ("coordinator", "declared"),
    ("loader 0", "load 0 taken"),
    ("loader 1", "load 1 reported"),
    ("loader 0", "worker 1 here"),
    ("worker 0", "update allowed"),
    ("worker 0", "worker 0 here"),
    ("worker 1", "worker 1 here"),
    ("worker 1", "worker 0 done"),
    ("worker 0", "worker 0 done"),
]
_VICTIMS = ("requester", "coordinator", "loader 0", "loader 1", "worker 0", "worker 1")
_ALL = [(victim, step) for victim in _VICTIMS for step in STEPS[1:]]


@pytest.mark.parametrize(("victim", "step"), _ALL if NIGHTLY else _BY_DEFAULT)
def test_a_party_is_killed(host: EngineWorkerQueue, victim: str, step: str) -> None:
    expected = _ends(victim, step)
    with opened(host, victim) as group:
        steps = iter(WAY)
        for name, take in steps:
            take(group)
            if name == step:
                break
        if victim == "requester" or (victim == "coordinator" and STEPS.index(step) < STEPS.index("taken")):
            group.of[victim].close()  # nobody needs it: it may not even be a party
            group.of[victim] = group.open(0)
        else:
            group.kill(victim)
            if STEPS.index(step) < STEPS.index("taken"):
                group.of[victim].close()
                group.of[victim] = group.open(int(victim[-1]))  # it is restarted in time
        if expected == "done":
            for _, take in steps:
                take(group)
        elif STEPS.index(step) >= STEPS.index("worker 1 here"):
            group.told_all()
            other = f"worker {1 - int(victim[-1])}"
            if group.observer.status().worker[int(other[-1])] == "swap":
                assert group.observer.status().phase == "UPDATING", "it is over while a worker exchanges its weights"
                group.of[other].updated(group.number)
        outcome = group.observer.wait(group.number)
        assert outcome.what == expected, f"{outcome}"
        if expected == "lost":
            assert outcome.missing == (() if victim == "coordinator" else (int(victim[-1]),))
            assert victim.split()[0] in outcome.reason
            assert group.observer.status().word == 0
            if STEPS.index(step) < STEPS.index("worker 1 here"):
                assert all(isinstance(told, RearrangeEndedError) for told in _others(group, victim))
                with pytest.raises(RearrangeEndedError, match="lost"):
                    group.observer.update(group.number)


def _others(group: Group, victim: str) -> list[object]:
    """What the workers were told that had come and live."""
    return [told for rank, told in group.told_all().items() if victim != f"worker {rank}"]


def test_a_party_is_killed_in_the_middle_of_a_call(host: EngineWorkerQueue) -> None:
    with opened(host, "loader 1") as group:
        for name, take in WAY:
            if name == "load 1 taken":
                break
            take(group)
        # The call has reached the host, or never will: either way the request ends by the loss.
        group.of["loader 1"].remote.ask("arm", "call.sent", "kill")
        group.of["loader 1"].remote.send("call", "take_load", 60)
        assert group.of["loader 1"].remote.ended() != 0
        outcome = group.observer.wait(group.number, 60)
        assert (outcome.what, outcome.missing) == ("lost", (1,))


_POINTS: tuple[str, ...] = (
    "Request",
    "Take",
    "BeginLoad",
    "TakeLoad",
    "ReportOk",
    "PeerReady",
    "DeclareLoaded",
    "Update",
    "Arrive",
)
_POINTS += ("Updated", "Join")


@pytest.mark.parametrize("point", _POINTS if NIGHTLY else ("BeginLoad", "ReportOk", "Arrive"))
def test_the_host_is_killed(point: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, f"{point}.done=kill")
    server = EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=2)
    monkeypatch.delenv(VARIABLE)
    group = Group(server.get_server_port())
    try:
        _way_until_the_host_dies(group)
        for handle in (*group.of.values(), group.observer):
            with pytest.raises(HostLostError):
                handle.status()
        # Who had not been told before is told now.
        assert all(told == group.number or isinstance(told, HostLostError) for told in group.told_all().values())
    finally:
        for handle in (*group.of.values(), group.observer, server):
            handle._release(goodbye=False)


def _way_until_the_host_dies(group: Group) -> None:
    with contextlib.suppress(HostLostError):
        for _, take in WAY:
            take(group)
    until(lambda: not group.observer._transport.is_alive(), "the connection ends")  # type: ignore[union-attr]


def test_a_worker_that_comes_back_during_the_exchange_has_nothing_to_do(host: EngineWorkerQueue) -> None:
    """The exchange is the others' alone: the new process asks in its loop, and gets no error."""
    with opened(host, "worker 1") as group:
        for name, take in WAY:
            take(group)
            if name == "worker 1 here":
                break
        group.told_all()
        assert group.observer.status().worker == ("swap", "swap")
        group.kill("worker 1")
        until(lambda: group.observer.status().worker == ("swap", "lost"), "the fence of worker 1")
        group.of["worker 1"].close()
        group.of["worker 1"] = group.open(1)
        assert group.of["worker 1"].take_update() is None
        with pytest.raises(ProtocolViolationError, match="exchanges no weights"):
            group.of["worker 1"].updated(group.number)
        group.of["worker 0"].updated(group.number)
        outcome = group.observer.wait(group.number)
        assert (outcome.what, outcome.missing) == ("lost", (1,))
