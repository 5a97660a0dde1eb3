"""Task dispatch as FastDeploy ships it: clients that work on plain shared objects, one access at a time.

The twin of ``tla/dispatch/DispatchShipped.tla``. Processes are numbers: ranks 0 .. N-1, then producers N .. N+P-1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from models.dispatch_shipped_state import (
    NOBODY,
    Config,
    Put,
    State,
    Words,
    invariants,
    sometimes,
)
from models.kernel import Action, Model, Step, replaced

__all__ = ("Config", "DispatchShipped", "Put", "State", "Words")
OneStep = Callable[[State, int], "State | None"]


class DispatchShipped(Model[State]):
    """Next-state relation. Each method is one step of one process, or None when it is not enabled."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config = config or Config()
        self.name = "dispatch as shipped"
        self.ranks = range(config.ranks)
        self.producers = range(config.ranks, config.ranks + config.producers)
        self.processes = range(config.ranks + config.producers)
        actions: dict[str, Callable[[State], Iterator[Step[State]]]] = {"Detect": self.detect}
        for who, steps in (
            (self.producers, self._put_steps()),
            (self.ranks, self._get_steps()),
            (self.processes, self._clear_steps() | {"Kill": self.kill}),
        ):
            for name, step in steps.items():
                actions[name] = partial(self._each, name, who, step)
        self.actions = actions
        self.invariants = invariants(config)
        self.action_properties = {}
        self.sometimes = sometimes(config)
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """All flags say that everything was read."""
        ranks, producers, processes = len(self.ranks), len(self.producers), len(self.processes)
        return (
            State(
                lock=NOBODY,
                tasks=(),
                flags=(1,) * ranks,
                exist=Words(shm=False, manager=False),
                pc=("idle",) * processes,
                mine=(0,) * producers,
                told=frozenset(),
                calls=0,
                alive=(True,) * processes,
                got=((),) * ranks,
                puts=(),
                clears=(0,) * processes,
                wiped=frozenset(),
            ),
        )

    def _each(self, name: str, who: range, step: OneStep, s: State) -> Iterator[Step[State]]:
        for x in who:
            if (after := step(s, x)) is not None:
                yield Action(name, (("rank" if x in self.ranks else "producer", x),)), after

    # -- put_tasks -----------------------------------------------------------------------------------------------

    def _put_steps(self) -> dict[str, OneStep]:
        return {
            "CallPut": self.call_put,
            "PutAcquire": self.put_acquire,
            "PutScan": lambda s, p: _when(s, p, "put: scan", "put: empty" if all(s.flags) else "put: wait"),
            "PutWait": lambda s, p: _release(s, p, "put: wait", "put again"),
            "PutEmpty": lambda s, p: _when(s, p, "put: empty", "put: flags", tasks=()),
            "PutFlags": lambda s, p: _when(s, p, "put: flags", "put: append", flags=(0,) * len(s.flags)),
            "PutAppend": self.put_append,
            "PutRaise": lambda s, p: _when(s, p, "put: raise", "put: release", exist=s.exist._replace(shm=True)),
            "PutRelease": self.put_release,
        }

    def call_put(self, s: State, p: int) -> State | None:
        """A producer begins a put. It has no number yet."""
        begun = sum(s.pc[q] == "put" for q in self.producers)
        return _when(s, p, "idle", "put") if s.calls + begun < self.config.max_calls else None

    def put_acquire(self, s: State, p: int) -> State | None:
        """The lock, at last or again. At last, the call gets its number."""
        if s.lock != NOBODY:
            return None
        if s.pc[p] == "put again":
            return _when(s, p, "put again", "put: scan", lock=p)
        mine = replaced(s.mine, p - len(self.ranks), s.calls + 1)
        return _when(s, p, "put", "put: scan", lock=p, calls=s.calls + 1, mine=mine)

    def put_append(self, s: State, p: int) -> State | None:
        """The batch is in the list."""
        id_ = s.mine[p - len(self.ranks)]
        put = Put(id_, max(s.clears[rank] for rank in self.ranks))
        return _when(s, p, "put: append", "put: raise", tasks=(*s.tasks, id_), puts=(*s.puts, put))

    def put_release(self, s: State, p: int) -> State | None:
        """The put returns."""
        after = _release(s, p, "put: release", "idle")
        return after and after._replace(mine=replaced(s.mine, p - len(self.ranks), 0))

    # -- who calls get, and get_tasks ----------------------------------------------------------------------------

    def detect(self, s: State) -> Iterator[Step[State]]:
        """Rank 0 sees exist, and the barrier of all ranks passes it on."""
        together = all(s.alive[rank] and s.pc[rank] == "idle" for rank in self.ranks)
        if self.config.barrier and not s.told and together and self._workers_see(s):
            yield Action("Detect"), s._replace(told=frozenset(self.ranks))

    def _workers_see(self, s: State) -> bool:
        return s.exist.shm if self.config.one_address else s.exist.manager

    def _get_steps(self) -> dict[str, OneStep]:
        return {
            "CallGet": self.call_get,
            "GetAcquire": lambda s, r: _acquire(s, r, "get", "get: copy"),
            "GetCopy": self.get_copy,
            "GetFlag": lambda s, r: _either(s, r, "flag", "scan", flags=replaced(s.flags, r, 1)),
            "GetScan": self.get_scan,
            "GetEmpty": self.get_empty,
            "GetLower": self.get_lower,
            "GetRelease": self.get_release,
        }

    def call_get(self, s: State, r: int) -> State | None:
        """A rank begins a get: it was told to, or sees exist itself, or does it idly."""
        config = self.config
        wants = r in s.told or config.idle_gets or (not config.barrier and self._workers_see(s))
        return _when(s, r, "idle", "get", told=s.told - {r}) if wants else None

    def get_copy(self, s: State, r: int) -> State | None:
        """The list is copied: this is the delivery. The rank's own flag is not looked at."""
        label = "get: flag" if s.tasks else "idle get: flag"
        return _when(s, r, "get: copy", label, got=replaced(s.got, r, s.got[r] + s.tasks))

    def get_scan(self, s: State, r: int) -> State | None:
        """Have all ranks read?"""
        return _either(s, r, "scan", "empty") if all(s.flags) else _either(s, r, "scan", "release", idle_to="get")

    def get_empty(self, s: State, r: int) -> State | None:
        """The last reader empties the list, and lowers exist now or later."""
        later = "get: release, then lower"
        if s.pc[r] == "get: empty" and not self.config.lower_inside:
            return _when(s, r, "get: empty", later, tasks=())
        return _either(s, r, "empty", "lower", tasks=())

    def get_lower(self, s: State, r: int) -> State | None:
        """The exist word that the workers look at is lowered."""
        words = s.exist._replace(shm=False) if self.config.one_address else s.exist._replace(manager=False)
        if s.pc[r] == "get: lower after release":
            return _when(s, r, "get: lower after release", "idle", exist=words)
        return _either(s, r, "lower", "release", idle_to="get", exist=words)

    def get_release(self, s: State, r: int) -> State | None:
        """The lock is released."""
        if s.pc[r] == "get: release, then lower":
            return _release(s, r, "get: release, then lower", "get: lower after release")
        return _release(s, r, "get: release", "idle")

    # -- clear_data, and death -----------------------------------------------------------------------------------

    def _clear_steps(self) -> dict[str, OneStep]:
        return {
            "CallClear": self.call_clear,
            "ClearAcquire": lambda s, x: _acquire(s, x, "clear", "clear: empty"),
            "ClearEmpty": self.clear_empty,
            "ClearFlags": lambda s, x: _when(s, x, "clear: flags", "clear: release", flags=(1,) * len(s.flags)),
            "ClearRelease": lambda s, x: _release(s, x, "clear: release", "idle"),
        }

    def call_clear(self, s: State, x: int) -> State | None:
        """A process begins a clear."""
        may = x in self.config.clearers and s.clears[x] < self.config.max_clears
        return _when(s, x, "idle", "clear") if may else None

    def clear_empty(self, s: State, x: int) -> State | None:
        """The list is emptied, whatever it holds. History notes a batch that is newer than the clear's round."""
        newer = {put.id for put in s.puts if x in self.ranks and put.rounds > s.clears[x]}
        after = _when(s, x, "clear: empty", "clear: flags", tasks=(), wiped=s.wiped | (newer & set(s.tasks)))
        return after and after._replace(clears=replaced(s.clears, x, s.clears[x] + 1))

    def kill(self, s: State, x: int) -> State | None:
        """A process dies. The manager's lock does not know its owner, so it stays locked."""
        may = x in self.config.mortal and s.alive[x] and self.config.killed_holding == (s.lock == x)
        return s._replace(alive=replaced(s.alive, x, False)) if may else None


def _when(s: State, x: int, at: str, to: str, **change: Any) -> State | None:
    """The step of a living process that is at a label."""
    if s.pc[x] != at or not s.alive[x]:
        return None
    return s._replace(pc=replaced(s.pc, x, to), **change)


def _either(s: State, r: int, at: str, to: str, idle_to: str = "idle get", **change: Any) -> State | None:
    """The same for a get or an idle get, which stay what they are unless ``idle_to`` says otherwise."""
    if s.pc[r] == f"idle get: {at}":
        return _when(s, r, f"idle get: {at}", f"{idle_to}: {to}", **change)
    return _when(s, r, f"get: {at}", f"get: {to}", **change)


def _acquire(s: State, x: int, at: str, to: str) -> State | None:
    return _when(s, x, at, to, lock=x) if s.lock == NOBODY else None


def _release(s: State, x: int, at: str, to: str) -> State | None:
    return _when(s, x, at, to, lock=NOBODY) if s.lock == x else None
