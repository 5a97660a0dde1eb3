"""Processes that die on either machine are noticed on the other within the limits."""

from __future__ import annotations

import os
import queue
import signal

import pytest

from tests.faults.remote import NIGHTLY, Failed, until
from tests.netns.group import LONG_S, Group


@pytest.mark.skipif(not NIGHTLY, reason="nightly")
def test_a_killed_rank_is_named_and_its_successor_goes_on(group: Group) -> None:
    group.start(grace_s=2.0, depth=1)
    rank = group.rank(1)
    rank.kill()
    group.put("first")
    with pytest.raises(Failed) as caught:
        group.engine.call("put_tasks", "second", timeout=LONG_S)
    assert (caught.value.name, caught.value.missing) == ("PeerLostError", (1,))
    again = group.rank(1)
    assert again.call("get_tasks") == [["first"], False]
    assert all(verdict.accepted for verdict in group.judged())


@pytest.mark.skipif(not NIGHTLY, reason="nightly")
def test_a_restarted_rank_need_not_wait_for_the_grace(group: Group) -> None:
    group.start(grace_s=6.0)
    group.rank(1).kill()
    process = group.process(group.there)

    def claims() -> bool:
        try:
            group.rank(1, process=process)
        except Failed as error:
            if error.name != "DuplicateRankError":
                raise
            return False
        return True

    until(claims, "the rank is free")
    group.put("for the new one")
    assert process.call("get_tasks") == [["for the new one"], False]
    assert 1 not in group.engine.call("statistics")["lost"]


def test_a_killed_host_is_noticed_on_both_machines(group: Group) -> None:
    group.start()
    rank = group.rank(1, grace_s=1.0)
    rank.start("get_tasks", timeout=LONG_S)
    os.kill(group.engine.ask("host")["pid"], signal.SIGKILL)
    for process in (rank, group.engine):
        with pytest.raises(Failed) as caught:
            process.answer() if process is rank else process.call("get_tasks")
        assert caught.value.name in ("HostLostError", "RankError")
    with pytest.raises(Failed) as caught:
        rank.call("num_tasks")
    assert caught.value.name == "HostLostError"


@pytest.mark.skipif(not NIGHTLY, reason="nightly")
def test_a_host_that_ends_tells_its_handles(group: Group) -> None:
    group.start()
    rank = group.rank(1, grace_s=LONG_S)
    rank.start("get_tasks", timeout=LONG_S)
    group.engine.call("close")
    with pytest.raises(Failed) as caught:
        rank.answer()
    assert caught.value.name == "HostLostError"


@pytest.mark.skipif(not NIGHTLY, reason="nightly")
def test_a_host_that_was_stopped_fences_nobody(group: Group) -> None:
    """What came while it was stopped counts."""
    group.start(grace_s=3.0)
    rank = group.rank(1, grace_s=LONG_S)
    pid = group.engine.ask("host")["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        rank.start("num_tasks")
        with pytest.raises(queue.Empty):  # longer than the grace
            rank._lines.get(timeout=4.0)
    finally:
        os.kill(pid, signal.SIGCONT)
    assert rank.answer() == 0
    assert rank.call("statistics")["lost"] == []
