"""B82, G1: a process killed with the lock keeps it for ever, and one killed while it waits for the lock gets it later.

Ours has no lock that a client holds. A client killed in the middle of a put has put, or has not; and a put that
waits when its process dies is withdrawn.
"""

import pytest

from fdcomm import EngineWorkerQueue
from tests.races.race import Race, wait_until
from tests.races.shipped import Stuck
from tests.races.variants import Ours, Shipped

pytestmark = pytest.mark.multiproc


def killed_holder(variant: Shipped) -> str:
    rank0, engine = variant.reader(0), variant.child(0)
    engine.start("put_tasks", "A", stop_before="put.append")
    engine.wait_stopped()
    engine.kill()
    try:
        rank0.get_tasks()
    except Stuck as error:
        return f"the engine was killed with the lock, and {error}"
    return ""


def killed_waiter(variant: Shipped) -> str:
    holder, looker, engine = variant.child(0), variant.reader(0), variant.child(0)
    holder.start("num_tasks", stop_before="num.release")
    holder.wait_stopped()
    engine.start("put_tasks", "A")
    wait_until("the engine waits for the lock", lambda: looker.lock_waiters() == 1)
    engine.kill()
    holder.resume()
    wait_until("the dead engine has the lock", lambda: looker.lock_waiters() == 0)
    try:
        looker.num_tasks()
    except Stuck as error:
        return f"the dead engine was given the lock, and {error}"
    return ""


def ours(variant: Ours) -> str:
    rank0 = variant.reader(0)
    for step, arrives in (("call.send", False), ("call.received", True)):
        child = variant.child(0, "producer")
        child.call("num_tasks")  # opens its connection: the next call is one exchange
        child.start("put_tasks", f"killed at {step}", stop_before=step)
        child.wait_stopped()
        child.kill()
        got = rank0.get_tasks()[0]
        if got != ([f"killed at {step}"] if arrives else []):
            return f"after a kill at {step} rank 0 reads {got}"
    return _waiting_put(variant, rank0)


def _waiting_put(variant: Ours, rank0: EngineWorkerQueue) -> str:
    engine = variant.engine()
    engine.put_tasks("A")
    child = variant.child(0, "producer")
    child.start("put_tasks", "of a dead process")
    wait_until("the put waits", lambda: engine.statistics().waiting_puts == 1)
    child.kill()
    wait_until("the put is withdrawn", lambda: engine.statistics().waiting_puts == 0)
    got = [rank0.get_tasks()[0]]
    engine.put_tasks("B")
    got.append(rank0.get_tasks()[0])
    return "" if got == [["A"], ["B"]] else f"rank 0 reads {got}"


RACE = Race(("B82", "G1"), killed_holder, ours, "killed with the lock, and get has no lock", ranks=1, data_path="host")
WAITER = Race(("B82", "G1"), killed_waiter, ours, "was given the lock, and num has no lock", ranks=1, data_path="host")


def test_shipped_fails_when_the_holder_is_killed() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_shipped_fails_when_a_waiter_is_killed() -> None:
    assert WAITER.symptom in WAITER.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
