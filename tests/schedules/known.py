"""Small programs with a known verdict, in pairs: a classic bug, and its fixed twin. They test the scheduler itself."""

from __future__ import annotations

from collections.abc import Callable

from fdcomm.testing import ControlledRuntime, Program, Scenario

__all__ = ("BROKEN", "FIXED", "unlocked_counter")

Build = Callable[[ControlledRuntime], Scenario]


def unlocked_counter(adders: int, additions: int = 1) -> Build:
    """Each adder loads, adds one, stores."""

    def build(runtime: ControlledRuntime) -> Scenario:
        words = runtime.words(1)

        def add() -> None:
            for _ in range(additions):
                runtime.store(words, 0, runtime.load(words, 0) + 1)

        def final() -> None:
            assert words[0] == adders * additions, f"{words[0]} of {adders * additions} additions are left"

        return Scenario({f"adder {n}": add for n in range(adders)}, final=final)

    return build


def locked_counter(runtime: ControlledRuntime) -> Scenario:
    """The same under a lock."""
    words, lock = runtime.words(1), runtime.condition()

    def add() -> None:
        with lock:
            runtime.store(words, 0, runtime.load(words, 0) + 1)

    def final() -> None:
        assert words[0] == 3

    return Scenario({"a": add, "b": add, "c": add}, final=final)


def pause(*, gate_inside: bool) -> Build:
    """A worker counts itself in under a lock; a pauser closes the gate, then waits until nobody is in.

    Broken: the worker looks at the gate before it takes the lock.
    """

    def build(runtime: ControlledRuntime) -> Scenario:
        words, lock = runtime.words(3), runtime.condition()
        paused, inflight, cleared = 0, 1, 2

        def count(change: int) -> None:
            with lock:
                runtime.store(words, inflight, runtime.load(words, inflight) + change)
                lock.notify_all()

        def use() -> None:
            assert runtime.load(words, cleared) == 0, "used after it was cleared"
            count(-1)

        def worker_outside() -> None:
            if not runtime.load(words, paused):
                count(1)
                use()

        def worker_inside() -> None:
            with lock:
                if runtime.load(words, paused):
                    return
                runtime.store(words, inflight, runtime.load(words, inflight) + 1)
            use()

        def pauser() -> None:
            with lock:
                runtime.store(words, paused, 1)
                while runtime.load(words, inflight):
                    lock.wait()
            runtime.store(words, cleared, 1)

        return Scenario({"worker": worker_inside if gate_inside else worker_outside, "pauser": pauser})

    return build


class Barrier:
    """A reusable barrier of two, as ``threading.Barrier``; ``reset`` breaks whoever waits."""

    def __init__(self, runtime: ControlledRuntime) -> None:
        self._condition = runtime.condition()
        self._arrived = self._round = self._broken = 0

    def wait(self) -> None:
        with self._condition:
            mine = self._round
            self._arrived += 1
            if self._arrived == 2:
                self._arrived, self._round = 0, mine + 1
                self._condition.notify_all()
            while self._round == mine:
                if self._broken > mine:
                    raise RuntimeError("broken barrier")
                self._condition.wait()

    def reset(self) -> None:
        with self._condition:
            if self._arrived:
                self._arrived, self._broken = 0, self._round + 1
                self._condition.notify_all()


def barrier(*, reset: bool) -> Build:
    """Two ranks meet twice. Broken: rank 0 resets the barrier after each meeting."""

    def build(runtime: ControlledRuntime) -> Scenario:
        meeting = Barrier(runtime)

        def rank(number: int) -> None:
            for _ in range(2):
                meeting.wait()
                if reset and number == 0:
                    meeting.reset()

        return Scenario({"rank 0": lambda: rank(0), "rank 1": lambda: rank(1)})

    return build


def notification(*, check: bool) -> Build:
    """One waits for the other's notification. Broken: it does not look first whether it has been."""

    def build(runtime: ControlledRuntime) -> Scenario:
        condition, state = runtime.condition(), {"ready": False}

        def waiter() -> None:
            with condition:
                if check:
                    while not state["ready"]:
                        condition.wait()
                else:
                    condition.wait()

        def notifier() -> None:
            with condition:
                state["ready"] = True
                condition.notify_all()

        return Scenario({"waiter": waiter, "notifier": notifier})

    return build


def two_locks(*, ordered: bool) -> Build:
    """Two tasks take two locks. Broken: in different orders."""

    def build(runtime: ControlledRuntime) -> Scenario:
        a, b = runtime.condition(), runtime.condition()

        def first() -> None:
            with a, b:
                runtime.point("both")

        def second() -> None:
            with b, a:
                runtime.point("both")

        return Scenario({"first": first, "second": first if ordered else second})

    return build


def one_shot_wait(*, loop: bool) -> Build:
    """A waiter that trusts every wake-up. Broken only where a wait may return without a reason."""

    def build(runtime: ControlledRuntime) -> Scenario:
        condition, state = runtime.condition(), {"ready": False}

        def waiter() -> None:
            with condition:
                while not state["ready"]:
                    condition.wait()
                    if not loop:
                        break
                assert state["ready"], "woken for nothing"

        def notifier() -> None:
            with condition:
                state["ready"] = True
                condition.notify_all()

        return Scenario({"waiter": waiter, "notifier": notifier})

    return build


def impatient(*, look_again: bool) -> Build:
    """A wait of one second. Broken: it takes the end of the time for "nothing came", without looking."""

    def build(runtime: ControlledRuntime) -> Scenario:
        condition, state = runtime.condition(), {"sent": False, "gave up": False}

        def receiver() -> None:
            with condition:
                while not state["sent"]:
                    if not condition.wait(1.0) and not (look_again and state["sent"]):
                        state["gave up"] = True
                        return

        def sender() -> None:
            with condition:
                if not state["gave up"]:
                    state["sent"] = True
                    condition.notify_all()

        def final() -> None:
            assert not (state["sent"] and state["gave up"]), "sent, and given up"

        return Scenario({"receiver": receiver, "sender": sender}, final=final)

    return build


# name -> (program, verdict). The spurious and the early ones need the bound that allows these.
BROKEN: dict[str, tuple[Program, str]] = {
    "unlocked counter": (Program("unlocked counter", unlocked_counter(2)), "invariant"),
    "unlocked counter, three": (Program("unlocked counter, three", unlocked_counter(3, 2)), "invariant"),
    "pause, gate outside": (Program("pause, gate outside", pause(gate_inside=False)), "error"),
    "barrier and reset": (Program("barrier and reset", barrier(reset=True)), "error"),
    "lost notification": (Program("lost notification", notification(check=False)), "deadlock"),
    "locks in two orders": (Program("locks in two orders", two_locks(ordered=False)), "deadlock"),
    "one-shot wait": (Program("one-shot wait", one_shot_wait(loop=False)), "error"),
    "impatient": (Program("impatient", impatient(look_again=False)), "invariant"),
}

FIXED: dict[str, Program] = {
    "locked counter": Program("locked counter", locked_counter),
    "pause, gate inside": Program("pause, gate inside", pause(gate_inside=True)),
    "barrier": Program("barrier", barrier(reset=False)),
    "notification": Program("notification", notification(check=True)),
    "locks in one order": Program("locks in one order", two_locks(ordered=True)),
    "wait in a loop": Program("wait in a loop", one_shot_wait(loop=True)),
    "patient": Program("patient", impatient(look_again=True)),
}
