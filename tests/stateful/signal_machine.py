"""Long random runs of signals beside the model: simulated processes in a real folder, killed anywhere."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from fdcomm.signals.layout import SUCCESSOR
from fdcomm.signals.segment import Segment
from fdcomm.signals.steps import UNSEEN
from models.kernel import Action, Step, changes, show
from models.signal import Config, Signal, State
from tests.conformance.signal_driver import Driver, ended_with
from tests.conformance.signal_world import SHIPPING, Programs
from tests.stateful.beside import run_machine

__all__ = ("run_simulated",)

ALL = frozenset(range(3))
CONFIG = Config(processes=3, files=12, creators=ALL, insisters=ALL, attachers=ALL, mortal=ALL, foreign=True, full=True)
CALLS = ("CallCreate", "CallCreate insists", "CallClear", "CallClear", "CallAttach", "CallAttach")
EVENTS = ("GiveUp", "Close", "Close", "NoSpace", "Crash", "Restart", "Restart", "ForeignCreate", "crash inside")
RARE = ("CallCreate", "CallClear", "CallAttach", *EVENTS[:-1])

# Where a program takes a step that nobody can see before the next one that others can.
INSIDE = ("wait", "clear-wait", "share", "fill")


class SignalMachine(RuleBasedStateMachine):
    """Three processes that create, insist, attach, write, clear, close and die, and other software."""

    occurred: ClassVar[Counter[str]] = Counter()
    programs: Programs = SHIPPING

    def __init__(self) -> None:
        super().__init__()
        memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
        self.folder = tempfile.TemporaryDirectory(prefix="fdcomm-test-", dir=memory)
        self.driver = Driver(Path(self.folder.name), CONFIG, type(self).programs)
        self.model = Signal(CONFIG)
        (self.state,) = self.model.initial()
        self.contents: dict[int, int] = {}  # inode -> what was written last

    def teardown(self) -> None:
        self.driver.end()
        self.folder.cleanup()

    def _take(self, action: Action, after: State) -> None:
        before, process = self.state, action.param("process")
        self.driver.take(action, after)
        self.state = after
        type(self).occurred[action.name] += 1
        if process is not None and after.pc[process] == "idle" and before.pc[process] not in ("idle", "dead"):
            error, wanted = self.driver.processes[process].error, ended_with(action, before, after)
            assert type(error) is (wanted or type(None)), f"{action}: {error!r} instead of {wanted}"

    @rule(
        first=st.integers(0, 2),
        runs=st.tuples(*[st.integers(0, 14)] * 3),
        full=st.sampled_from((False,) * 4 + (True,)),
        value=st.integers(0, 2**63 - 1),
    )
    def go_on(self, first: int, runs: tuple[int, int, int], full: bool, value: int) -> None:
        """Processes go on in their calls, one after the other, for that many steps each; then one writes."""
        for process in [(first + turn) % 3 for turn, run in enumerate(runs) for _ in range(run)]:
            if self.state.pc[process] not in ("idle", "dead"):
                step = next(self._goes_on(process, full), None)
                if step is not None:
                    self._take(*step)
        self._write(first, value % 4, value)

    def _goes_on(self, process: int, full: bool) -> Iterator[Step[State]]:
        if full and self.state.pc[process] == "allocate":
            yield from (s for s in self.model.actions["NoSpace"](self.state) if s[0].param("process") == process)
        for name, steps in self.model.actions.items():
            if name not in RARE or (name == "Close" and self.state.pc[process] == "close"):
                yield from (step for step in steps(self.state) if step[0].param("process") == process)

    @rule(kinds=st.lists(st.sampled_from(CALLS), min_size=3, max_size=3), which=st.integers(0, 3))
    def call(self, kinds: list[str], which: int) -> None:
        """Processes that have nothing to do make a call."""
        for process, kind in enumerate(kinds):
            name = kind.partition(" ")[0]
            steps = [
                (action, after)
                for action, after in (self.model.actions[name](self.state) if name in RARE else ())
                if action.param("process") == process
                and action.param("insist") in (None, int(kind.endswith("insists")))
            ]
            if steps:
                self._take(*steps[which % len(steps)])

    @rule(name=st.sampled_from(EVENTS), which=st.integers(0, 7))
    def event(self, name: str, which: int) -> None:
        """Something that no program decides."""
        if name == "crash inside":
            self._crash_inside(which % 3)
            return
        steps = list(self.model.actions[name](self.state))
        if steps:
            self._take(*steps[which % len(steps)])

    def _crash_inside(self, process: int) -> None:
        """A process dies between two system calls of one action."""
        if self.state.pc[process] in INSIDE:
            done = self.driver.processes[process].step()
            assert done in UNSEEN, f"the code took the step {done}"
            for action, after in self.model.actions["Crash"](self.state):
                if action.param("process") == process:
                    self._take(action, after)
                    type(self).occurred["crash inside"] += 1
                    return

    def _write(self, process: int, which: int, value: int) -> None:
        """A process writes through one of its handles."""
        simulated = self.driver.processes[process]
        held = [segment for _, segment in (*simulated.owned, *simulated.attached)]
        if held:
            segment = held[which % len(held)]
            segment.data().cast("q")[0] = value
            self.contents[segment.found.inode] = value
            type(self).occurred["write"] += 1

    def _segments(self) -> list[Segment]:
        processes = self.driver.processes
        return [segment for p in processes for _, segment in (*p.owned, *p.attached)]

    @invariant()
    def as_the_model_says(self) -> None:
        found = self.driver.state(self.state)
        difference = "; ".join(
            f"{name} = {show(b)} instead of {show(a)}" for name, (a, b) in changes(self.state, found).items()
        )
        assert not difference, difference
        assert [name for name, holds in self.model.invariants.items() if not holds(found)] == []

    @invariant()
    def everybody_sees_what_was_written(self) -> None:
        for segment in self._segments():
            inode = segment.found.inode
            assert segment.data().cast("q")[0] == self.contents.get(inode, 0)
            current = self.state.name != 0 and self.driver.inode(self.state.name) == inode
            assert segment.superseded() == (not current and segment.words[SUCCESSOR] != 0)


def run_simulated(options: settings, programs: Programs = SHIPPING) -> Counter[str]:
    """Run the machine; return how often each action took place."""

    class Machine(SignalMachine):
        pass

    Machine.programs = programs
    return run_machine(Machine, options)
