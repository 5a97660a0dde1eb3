"""Random runs of signals over real processes, beside a few lines that say what each must see."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from fdcomm import shared_memory_exists
from fdcomm.signals.files import default_directory
from tests.multiproc.signal_process import Refused, SignalProcess
from tests.stateful.beside import run_machine

__all__ = ("RULES", "run_processes")

RULES = (
    *("create", "insist", "create refused", "attach", "attach refused", "write"),
    *("clear", "clear of nothing", "close", "exit", "kill"),
)
SIZE = {"shm_size": 8}


@dataclass
class Segment:
    """What there must be."""

    owner: int | None
    generation: int
    content: str = "00" * 8


@dataclass
class Held:
    """One process and its handles: key -> segment."""

    process: SignalProcess
    handles: dict[str, Segment] = field(default_factory=dict)
    closed: list[Segment] = field(default_factory=list)


class ProcessMachine(RuleBasedStateMachine):
    """Two processes and one name. The processes live on from run to run, until they are killed."""

    occurred: ClassVar[Counter[str]] = Counter()
    pool: ClassVar[list[SignalProcess]] = []

    def __init__(self) -> None:
        super().__init__()
        self.name = f"fdcomm-test-{os.urandom(8).hex()}"
        self.current: Segment | None = None
        self.keys = 0
        self.held = [Held(self._process()) for _ in range(2)]

    def _process(self) -> SignalProcess:
        return type(self).pool.pop() if type(self).pool else SignalProcess()

    def teardown(self) -> None:
        for held in self.held:
            for key in held.handles:
                held.process.tell("clear", key)
            type(self).pool.append(held.process)
        for path in Path(default_directory()).glob(f"{self.name}*"):
            path.unlink()

    def _did(self, what: str) -> None:
        type(self).occurred[what] += 1

    def _key(self) -> str:
        self.keys += 1
        return f"{self.name}-{self.keys}"

    @rule(who=st.integers(0, 1), insist=st.booleans())
    def create(self, who: int, insist: bool) -> None:
        """A process makes the signal, unless the other one has it."""
        there, key = self.current, self._key()
        if there is not None and there.owner == who:
            return  # a warning, which is an error in these processes
        options = {**SIZE, "replace": insist}
        if there is not None and there.owner is not None and not insist:
            with pytest.raises(Refused, match="SignalInUseError"):
                self.held[who].process.tell("create", key, self.name, options)
            self._did("create refused")
            return
        self.held[who].process.tell("create", key, self.name, options)
        self.current = Segment(who, there.generation + 1 if there else 1)
        self.held[who].handles[key] = self.current
        self._did("insist" if there is not None and there.owner is not None else "create")

    @rule(who=st.integers(0, 1))
    def attach(self, who: int) -> None:
        """A process attaches to what is there."""
        key = self._key()
        if self.current is None:
            with pytest.raises(Refused, match="SignalNotFoundError"):
                self.held[who].process.tell("attach", key, self.name, SIZE)
            self._did("attach refused")
            return
        self.held[who].process.tell("attach", key, self.name, SIZE)
        self.held[who].handles[key] = self.current
        self._did("attach")

    @rule(who=st.integers(0, 1), which=st.integers(0, 3), content=st.binary(min_size=8, max_size=8))
    def write(self, who: int, which: int, content: bytes) -> None:
        """A process writes through one of its handles."""
        handles = self.held[who].handles
        if handles:
            key = sorted(handles)[which % len(handles)]
            self.held[who].process.tell("write", key, content.hex())
            handles[key].content = content.hex()
            self._did("write")

    @rule(who=st.integers(0, 1), which=st.integers(0, 3), end=st.sampled_from(("clear", "close")))
    def let_go(self, who: int, which: int, end: str) -> None:
        """A process clears or closes one of its handles."""
        handles = self.held[who].handles
        if not handles:
            return
        key = sorted(handles)[which % len(handles)]
        owned = self.held[who].process.tell("ask", key, "owned")
        self.held[who].process.tell(end, key)
        segment = handles.pop(key)
        if owned:
            assert segment.owner == who
            segment.owner = None
        if owned and end == "clear" and segment is self.current:
            self.current = None
            self._did("clear")
        else:
            self._did("close" if end == "close" else "clear of nothing")

    @rule(who=st.integers(0, 1), kill=st.booleans(), rarely=st.sampled_from((False, False, True)))
    def end(self, who: int, kill: bool, rarely: bool) -> None:
        """A process ends, well or not, and another one comes in its place."""
        if not rarely:
            return
        held = self.held[who]
        if kill:
            held.process.kill()
        else:
            held.process.exit()
        if self.current is not None and self.current.owner == who:
            self.current.owner = None
            if not kill:
                self.current = None
        for other in (*held.handles.values(), *self.held[1 - who].handles.values()):
            if other.owner == who:
                other.owner = None
        self.held[who] = Held(self._process())
        self._did("kill" if kill else "exit")

    @invariant()
    def everybody_sees_what_is_there(self) -> None:
        assert shared_memory_exists(self.name) == (self.current is not None)
        for held in self.held:
            for key, segment in held.handles.items():
                seen: tuple[Any, ...] = (
                    held.process.tell("read", key),
                    *(held.process.tell("ask", key, what) for what in ("superseded", "owner_alive", "generation")),
                )
                wanted = (segment.content, segment is not self.current, segment.owner is not None, segment.generation)
                assert seen == wanted, key


def run_processes(options: settings) -> Counter[str]:
    """Run the machine; return how often each thing happened."""

    class Machine(ProcessMachine):
        pass

    Machine.pool = []
    try:
        return run_machine(Machine, options)
    finally:
        for process in Machine.pool:
            process.exit()
