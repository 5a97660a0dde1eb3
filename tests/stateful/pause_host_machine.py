"""Long random runs of pauses on a real host beside the model: ranks with threads of their own, and calls that wait."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from fdcomm import EngineCacheQueue, PauseControl
from fdcomm.core.pause import MODES
from fdcomm.errors import CommTimeoutError, FdcommError, JobCancelledError, NotPausedError, RequestCancelledError
from models.dispatch_trace import accept_file
from models.pause_state import ABORT, AWAY, KEEP, LOST
from tests.conformance.waiting import Background, until
from tests.stateful.beside import judged, run_machine, when
from tests.stateful.pause_host_world import CLIENTS, RANKS, RETURNS, Host, World

__all__ = ("INSIDE", "run_host")

INSIDE = ("Admit", "Done", "Park")  # what a host cannot see
ranks = st.integers(0, RANKS - 1)
clients = st.integers(1, CLIENTS)
modes = st.integers(0, 2)
in_a_hurry = st.sampled_from([False, False, True])


class HostMachine(World):
    """What ranks, clients and the environment do, as rules."""

    # -- ranks ---------------------------------------------------------------------------------------------------

    @precondition(when("Join"))
    @rule(rank=ranks)
    def join(self, rank: int) -> None:
        if self.state.status[rank] in (AWAY, LOST):
            self.handles[rank] = type(self).host.client(self.dp, rank)
            self.controls[rank] = PauseControl(self.handles[rank], rank=True)
            self.take("Join", rank=rank)
            self.settle()

    @precondition(lambda self: self.controls)
    @rule(rank=ranks)
    def leave(self, rank: int) -> None:
        """The rank closes its control; it leaves with its last job."""
        if rank in self.controls and not self.parked[rank] and rank not in self.leaving:
            self.controls[rank].close()
            self.leaving.add(rank)
            self._left(rank)
            self.settle()

    def _left(self, rank: int) -> None:
        if rank in self.leaving and not self.state.running[rank] and not self.state.parked[rank]:
            self.take("Leave", rank=rank)
            self._forget(rank).close()

    def _forget(self, rank: int) -> EngineCacheQueue:
        self.leaving.discard(rank)
        del self.controls[rank]
        self.jobs[rank] = []
        return self.handles.pop(rank)

    @precondition(lambda self: self.controls)
    @rule(rank=ranks, rarely=st.sampled_from([False, True]))
    def crash(self, rank: int, rarely: bool) -> None:
        """The rank's process is gone, as the host sees it."""
        if rank in self.controls and rarely:
            parked = self.parked[rank]
            self._forget(rank)._release(goodbye=False)
            for _, waiting in parked:
                assert isinstance(waiting.error(), FdcommError)
            parked.clear()
            self.take("Crash", rank=rank)
            self.take("Fence", rank=rank)
            self.settle()

    @precondition(lambda self: self.controls)
    @rule(rank=ranks)
    def admit(self, rank: int) -> None:
        if rank not in self.controls or rank in self.leaving:
            return
        if self.can("Admit", rank=rank):
            self.jobs[rank].append(self.controls[rank].admit(timeout=0))
            self.take("Admit", rank=rank)
        elif self.state.gate[rank] == "shut":
            with _refused(CommTimeoutError):
                self.controls[rank].admit(timeout=0)
        self.settle()

    @precondition(lambda self: self.controls)
    @rule(number=st.integers(1, 2))
    def work(self, number: int) -> None:
        """All ranks take up jobs."""
        for rank in range(RANKS):
            self.join(rank)
            for _ in range(number):
                self.admit(rank)

    @precondition(lambda self: any(self.jobs.values()))
    @rule(rank=ranks)
    def done(self, rank: int) -> None:
        if self.jobs[rank]:
            self.jobs[rank].pop().done()
            running = self.state.running[rank]
            self.take("Done", rank=rank)
            assert self.state.running[rank] == running - 1
            self._left(rank)
            self.settle()

    @precondition(lambda self: any(self.jobs.values()))
    @rule(rank=ranks)
    def checkpoint(self, rank: int) -> None:
        """A job comes where it may stop."""
        if not self.jobs[rank]:
            return
        if self.state.gate[rank] == "shut" and self.state.told[rank] == KEEP:
            job = self.jobs[rank].pop()
            self.parked[rank].append((job, Background(lambda: job.checkpoint(timeout=None))))
            self.take("Park", rank=rank)
        elif self.state.gate[rank] == "shut" and self.state.told[rank] == ABORT:
            with _refused(JobCancelledError):
                self.jobs[rank][-1].checkpoint()
        else:
            self.jobs[rank][-1].checkpoint(timeout=0)
        self.settle()

    # -- clients -------------------------------------------------------------------------------------------------

    def _free(self, client: int) -> bool:
        return client not in self.calls and client not in self.resuming

    @rule(client=clients, mode=modes, hurry=in_a_hurry)
    def pause(self, client: int, mode: int, hurry: bool) -> None:
        if self._free(client):
            api = self.apis[client]
            call = Background(lambda: api.pause(MODES[mode], timeout=0 if hurry else None))
            self.take("CallPause", client=client, mode=mode)
            self._called(client, "pause", call, hurry=hurry)

    def _called(self, client: int, kind: str, call: Background, *, hurry: bool) -> None:
        """A call has been made; its order is the model's last step. In a hurry it ends in the same moment."""
        returns = any(
            step.param("client") == client for name in RETURNS for step, _ in self.model.actions[name](self.state)
        )
        if hurry and not returns:
            assert isinstance(call.error(), CommTimeoutError)
            self.take("GiveUp", client=client)
        else:
            self.calls[client] = kind, call
            if not returns:  # it is in the host, and what follows may happen
                number = len(self.calls) + len(self.resuming)
                until(lambda: self._is_in(number, call), "the call")
        self.settle()

    def _is_in(self, number: int, call: Background) -> bool:
        return not call.is_running() or self.observer.statistics().waiting >= number

    @rule(client=clients, hurry=in_a_hurry)
    def resume(self, client: int, hurry: bool) -> None:
        if not self._free(client) or client in self.holding:
            return
        api = self.apis[client]
        call = Background(lambda: api.resume(timeout=0 if hurry else None))
        if self.can("CallResume", client=client):
            self.take("CallResume", client=client)
            self._called(client, "resume", call, hurry=hurry)
        elif hurry:
            assert isinstance(call.error(), CommTimeoutError)
        else:
            self.resuming[client] = call
            until(lambda: self._is_in(len(self.calls) + len(self.resuming), call), "the resume waits")
        self.settle()

    @rule(client=clients)
    def cancel(self, client: int) -> None:
        """A client gives up the pause that is under way."""
        if not self._free(client):
            return
        if self.can("CancelPause", client=client):
            api = self.apis[client]
            call = Background(lambda: api.cancel_pause(timeout=None))
            self.take("CancelPause", client=client)
            self._called(client, "cancel", call, hurry=False)
        else:
            assert self.apis[client].cancel_pause() is False

    @rule(client=clients, mode=modes, jobs=st.integers(1, 2), ends=st.sampled_from(["", "park", "cancel"]))
    def pause_while_busy(self, client: int, mode: int, jobs: int, ends: str) -> None:
        """What a pause is for: ranks are at work."""
        if self.state.phase != "run":
            return
        self.work(jobs)
        self.pause(client, mode, hurry=False)
        if ends == "cancel":
            self.cancel(client % CLIENTS + 1)
        for rank in range(RANKS if ends == "park" else 0):
            for _ in range(len(self.jobs[rank])):
                self.checkpoint(rank)

    @precondition(lambda self: any(self.jobs.values()))
    @rule(some=st.booleans())
    def finish(self, some: bool) -> None:
        """Jobs end: one of each rank, or all."""
        for rank in range(RANKS):
            for _ in range(1 if some else len(self.jobs[rank])):
                self.done(rank)

    @precondition(lambda self: self.calls or self.resuming)
    @rule(client=clients)
    def give_up(self, client: int) -> None:
        """Another thread ends what the client waits for."""
        waiting = client in self.calls or client in self.resuming
        assert self.apis[client].give_up() == waiting
        if waiting:
            self._ends(client, RequestCancelledError)
            self.settle()

    def _ends(self, client: int, kind: type[FdcommError]) -> None:
        if client in self.calls:
            assert isinstance(self.calls.pop(client)[1].error(), kind)
            self.take("GiveUp", client=client)
        elif client in self.resuming:
            assert isinstance(self.resuming.pop(client).error(), kind)

    @rule(client=clients)
    def hold(self, client: int) -> None:
        """A client holds the pause, or lets go of it."""
        if client in self.holding:
            self.holding.pop(client).close()
            self.take("LetGo", client=client)
        elif self.can("Hold", client=client):
            self.holding[client] = contextlib.ExitStack()
            self.holding[client].enter_context(self.apis[client].held())
            self.take("Hold", client=client)
        elif self._free(client):
            with _refused(NotPausedError), self.apis[client].held():
                pass
        self.settle()

    @rule(client=st.integers(2, CLIENTS))
    def lose_client(self, client: int) -> None:
        """A client's process is gone, as the host sees it; another takes its place."""
        if client in self.holding or not self._free(client):
            self.clients[client]._release(goodbye=False)
            if client in self.holding:
                with contextlib.suppress(FdcommError):
                    self.holding.pop(client).close()
                self.take("LetGo", client=client)
            self._ends(client, FdcommError)
            self._open_client(client)
            self.settle()

    @rule(client=clients, mode=modes)
    def clear(self, client: int, mode: int) -> None:
        """A client does what must not overlap a job, where nothing is in its way."""
        waits = any(self.state.running) or self.state.holders or self.calls or self.resuming
        if waits or client in self.holding:
            return
        begins = self.state.phase == "run"
        assert self.apis[client].clear(lambda: self.observer.statistics().paused, MODES[mode], timeout=60) is True
        self.take("CallPause", client=client, mode=mode)
        for name in ("PauseReturns", "Hold", "LetGo", *(("CallResume", "ResumeReturns") if begins else ())):
            self._take_orders()
            self.take(name, client=client)
        self.settle()

    def _take_orders(self) -> None:
        for name in ("Take", "Quiet"):
            for rank in range(RANKS):
                if self.can(name, rank=rank):
                    self.take(name, rank=rank)


@contextlib.contextmanager
def _refused(kind: type[FdcommError]) -> Iterator[None]:
    try:
        yield
    except kind:
        return
    raise AssertionError(f"a call that must raise {kind.__name__} returned")


def run_host(options: settings) -> Counter[str]:
    """Run the machine; return how often each action was recorded, after the model's judgement of the whole record.

    Of what happens inside a rank, how often the rank did it.
    """
    host = Host(replicas=50 + 6 * options.max_examples)  # invalid examples use one too
    try:

        class Machine(HostMachine):
            pass

        Machine.host = host
        done = run_machine(Machine, options)
        recorded = judged(accept_file(str(host.trace), only=("pause",)))
        return recorded + Counter({name: done[name] for name in INSIDE})
    finally:
        host.close()
