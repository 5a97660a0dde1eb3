"""A rank on another machine, whose connection is slow, breaks and comes back: each batch once, in order."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.faults.remote import NIGHTLY, Failed, until
from tests.netns.group import LONG_S, Group
from tests.traces.events import runs_of
from tla.link_trace import judge
from tla.trace import judge as judge_dispatch


def _take(rank: object, count: int) -> list[object]:
    taken = []
    for _ in range(count):
        ((item,), _) = rank.call("get_tasks", timeout=LONG_S)  # type: ignore[attr-defined]
        taken.append(item)
    return taken


def _accepted(group: Group) -> Counter[str]:
    """See that the model accepts what was recorded; return what happened."""
    counts: Counter[str] = Counter()
    for verdict in group.judged():
        assert verdict.accepted, str(verdict)
        counts += verdict.counts
    return counts


def test_batches_arrive_over_a_slow_connection_that_is_cut(group: Group, seed: int) -> None:
    """Delay and cuts while ranks wait: everything arrives once; TLC and the models accept what was recorded."""
    rng = random.Random(seed)
    group.start(depth=4)
    ranks = [group.rank(number) for number in range(2)]
    group.relay.delay(0.01)
    for number in range(6):
        for rank in ranks:
            rank.start("get_tasks", timeout=LONG_S)
        if rng.random() < 0.7:
            group.relay.cut()
        group.put(number)
        if rng.random() < 0.7:
            group.relay.cut()
        assert [rank.answer()[0] for rank in ranks] == [[number]] * 2, f"seed {seed}"
    assert group.relay.connections > 2, "nothing was cut"
    counts = _accepted(group)
    assert counts["GetTasks"] == 12
    runs = runs_of(group.trace)
    links = [run for name, run in runs.items() if name.startswith("link.")]
    assert len(links) == 2
    assert all(verdict.accepted for verdict in judge(links))
    assert all(verdict.accepted for verdict in judge_dispatch([runs["dispatch"]]))


@pytest.mark.skipif(not NIGHTLY, reason="nightly")
def test_a_call_whose_answer_is_lost_takes_effect_once(group: Group) -> None:
    group.start(depth=4)
    rank = group.rank(1)
    group.relay.hold_answers()
    rank.send("call", "put_tasks", "once", timeout=LONG_S)
    until(lambda: group.engine.call("statistics")["puts"] == 1, "the put is done")
    group.relay.cut()
    group.relay.heal()
    assert rank.answer() is None
    assert group.engine.call("statistics")["puts"] == 1
    assert _take(rank, 1) == ["once"]
    assert _accepted(group)["Begin"] > 0


@pytest.mark.skipif(not NIGHTLY, reason="nightly")
def test_a_partition_within_the_grace_is_not_noticed(group: Group) -> None:
    group.start(grace_s=LONG_S, depth=2)
    rank = group.rank(1, grace_s=LONG_S)
    rank.start("get_tasks", timeout=LONG_S)
    group.relay.partition()
    group.put("while it was away", "later")
    group.relay.heal()
    assert rank.answer() == [["while it was away"], False]
    assert _take(rank, 1) == ["later"]
    assert group.engine.call("statistics")["lost"] == []
    assert "Fence" not in _accepted(group)


def test_a_partition_beyond_the_grace_fences_for_good(group: Group) -> None:
    group.start(grace_s=2.0, depth=1)
    rank = group.rank(1, grace_s=LONG_S)
    rank.start("get_tasks", timeout=LONG_S)
    group.relay.partition()
    until(lambda: group.engine.call("statistics")["lost"] == [1], "the rank is fenced")
    with pytest.raises(Failed) as caught:
        group.put("refused")
    assert (caught.value.name, caught.value.missing) == ("PeerLostError", (1,))
    group.relay.heal()
    with pytest.raises(Failed) as caught:
        rank.answer()
    assert caught.value.name == "FencedError"
    with pytest.raises(Failed) as caught:
        rank.call("get_tasks")
    assert caught.value.name == "FencedError"
    again = group.rank(1, grace_s=LONG_S)
    assert group.engine.call("statistics")["lost"] == []
    group.put("for the new one")
    assert _take(again, 1) == ["for the new one"]
    assert _accepted(group)["Fence"] > 0


@pytest.mark.skipif(not NIGHTLY, reason="nightly")
def test_a_handle_gives_up_after_its_grace(group: Group) -> None:
    group.start(grace_s=LONG_S)
    rank = group.rank(1, grace_s=1.0)
    rank.start("get_tasks", timeout=LONG_S)
    group.relay.partition()
    with pytest.raises(Failed) as caught:
        rank.answer()
    assert caught.value.name == "HostLostError"
    group.relay.heal()


def test_one_put_reaches_local_and_remote_ranks_once_and_in_order(group: Group) -> None:
    """Rank 0 takes from shared memory, rank 1 over the network; the slower one holds the writer back."""
    group.start(depth=2, recorded=False)
    local, remote = group.local_rank(0), group.rank(1)
    for first in range(0, 10, 2):
        group.put(first, first + 1)
        with pytest.raises(Failed) as caught:
            group.engine.call("put_tasks", "too many", timeout=0.0)
        assert caught.value.missing == (0, 1)
        assert _take(local, 2) == [first, first + 1]
        with pytest.raises(Failed) as caught:
            group.engine.call("put_tasks", "too many", timeout=0.0)
        assert caught.value.missing == (1,)
        group.relay.cut()
        assert _take(remote, 2) == [first, first + 1]
    assert [rank.call("get_tasks") for rank in (local, remote)] == [[[], True]] * 2
