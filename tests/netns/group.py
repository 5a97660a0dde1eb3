"""An engine with its host on one machine, ranks on another, and a relay between them."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import astuple
from pathlib import Path
from types import TracebackType
from typing import Any

from fdcomm import CurveKeys
from models.acceptance import Verdict
from models.dispatch_trace import accept_file
from tests.faults.remote import Remote
from tests.netns.net import Machine
from tests.netns.relay import Relay
from tests.traces.events import runs_of

__all__ = ("LONG_S", "Group")

LONG_S = 60.0
RANKS = 2


class Group:
    """A queue for two ranks. The engine is on the first machine, ranks where they are opened.

    Args:
        machines: The two.
        trace: Where the host records.
    """

    def __init__(self, machines: tuple[Machine, Machine], trace: Path) -> None:
        self.here, self.there = machines
        self.trace = trace
        self.keys = CurveKeys.generate()
        self._undo = ExitStack()
        self.engine: Remote
        self.relay: Relay
        self.port = 0

    def start(self, *, grace_s: float = 10.0, recorded: bool = True, **arguments: Any) -> None:
        """Start the engine, its host and the relay. The relay's port is the host's: a client names one port."""
        self.engine = self.process(self.here)
        self.port = self.engine.ask(
            "open",
            address=[self.here.address, 0],
            is_server=True,
            num_client=RANKS,
            allow_pickle=True,
            link={"keys": astuple(self.keys), "grace_s": grace_s},
            trace=str(self.trace) if recorded else "",
            **arguments,
        )
        self.relay = Relay((self.there.gateway, 0), (self.here.address, self.port))
        self._undo.callback(self.relay.close)

    def process(self, machine: Machine) -> Remote:
        """Start a process on a machine."""
        environment = {"FDCOMM_DATA_PATH": os.environ.get("FDCOMM_DATA_PATH", "auto")}
        return self._undo.enter_context(Remote(prefix=machine.prefix, **environment))

    def rank(self, number: int, *, grace_s: float = 10.0, process: Remote | None = None, **arguments: Any) -> Remote:
        """Open a rank on the other machine, through the relay."""
        process = process or self.process(self.there)
        arguments.setdefault("role", "reader")
        process.ask(
            "open",
            address=[self.there.gateway, self.relay.port],
            num_client=RANKS,
            client_id=number,
            allow_pickle=True,
            link={"keys": astuple(self.keys.for_clients()), "grace_s": grace_s},
            data_path="host",  # the machines share their memory, which others do not
            **arguments,
        )
        return process

    def local_rank(self, number: int) -> Remote:
        """Open a rank on the engine's machine, which does not go through the network."""
        process = self.process(self.here)
        process.ask("open", address=["0.0.0.0", self.port], num_client=RANKS, client_id=number, role="reader")
        return process

    def put(self, *items: Any) -> None:
        """Put items."""
        for item in items:
            self.engine.call("put_tasks", item, timeout=LONG_S)

    def judged(self) -> list[Verdict]:
        """Return the model's verdicts on everything that the host has recorded: of links, and of the dispatch."""
        judged = {name for name in runs_of(self.trace) if name == "dispatch" or name.startswith("link.")}
        return accept_file(str(self.trace), only=judged)

    def __enter__(self) -> Group:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._undo.__exit__(kind, error, trace)
