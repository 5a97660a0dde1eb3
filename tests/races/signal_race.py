"""Signal race scenarios: processes with one signal, as shipped and as ours."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.races.pipes import ROOT, WATCHDOG_S, read_line
from tests.races.race import Race

__all__ = ("SEEN_STEP", "UNSEEN_STEPS", "Refused", "SignalRace", "SignalUser", "SignalWorld", "killed_in_a_create")

_NUMBERS = itertools.count()
MEMORY = Path("/dev/shm")

# Steps of our create after which nothing may be seen of it, and the one after which all is.
UNSEEN_STEPS = ("TakeGuard", "Examine", "DropTemp", "MakeTemp", "Allocate", "Fill", "TakeLock")
SEEN_STEP = "Publish"


class Refused(Exception):
    """The process answered with an error."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(f"{kind}: {text}")
        self.kind = kind


class SignalUser:
    """The parent's end of one process."""

    def __init__(self, variant: str, name: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.races.signal_child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=ROOT,
        )
        self._say(variant=variant, name=name)
        self._answer("result")

    def _say(self, **order: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(order).encode() + b"\n")

    def _answer(self, kind: str) -> Any:
        try:
            ((found, value),) = read_line(self.process).items()
        except EOFError:
            raise AssertionError(f"the process ended: {self._errors()}") from None
        if found == "error":
            raise Refused(*value)
        if found != kind:
            raise AssertionError(f"the process answered {found} {value!r} instead of {kind}")
        return value

    def do(self, what: str, *args: Any) -> Any:
        """Give an order and return its result."""
        self._say(do=what, args=args, stop_at="")
        return self._answer("result")

    def start(self, what: str, *args: Any, stop_at: str) -> None:
        """Begin an order and wait until it stands at the step."""
        self._say(do=what, args=args, stop_at=stop_at)
        self._answer("stopped")

    def go_on(self, stop_at: str) -> None:
        """Let it go on to another step."""
        self._say(stop_at=stop_at)
        self._answer("stopped")

    def finish(self) -> Any:
        """Let it go on to the end, and return its result."""
        self._say(stop_at="")
        return self._answer("result")

    def exit(self) -> None:
        """An orderly end of the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(WATCHDOG_S)

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        self.process.kill()
        self.process.wait(WATCHDOG_S)

    def _errors(self) -> str:
        """What it, or its tracker, has written to stderr, until both are gone."""
        assert self.process.stderr is not None
        return self.process.stderr.read().decode()

    def last_words(self) -> str:
        """The process is gone; wait until everything that it has started is too, and return what they wrote."""
        return self._errors()

    def end(self) -> None:
        """Whatever it does, it is over. So is its tracker when its stderr is."""
        self.process.kill()
        self.process.wait(WATCHDOG_S)
        assert self.process.stderr is not None
        if not self.process.stderr.closed:
            self.process.stderr.read()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()


class SignalWorld:
    """A name, and the processes that use it."""

    def __init__(self, variant: str) -> None:
        self.variant = variant
        self.name = f"fdcomm-race-{os.getpid()}-{next(_NUMBERS)}"
        self._stack = contextlib.ExitStack()

    def user(self) -> SignalUser:
        """Start a process of its own tree."""
        user = SignalUser(self.variant, self.name)
        self._stack.callback(user.end)
        return user

    @property
    def path(self) -> Path:
        """The file behind the name."""
        return MEMORY / self.name

    def there(self) -> bool:
        """Return True when the name leads to something."""
        return self.path.exists()

    def __enter__(self) -> SignalWorld:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()
        for path in (self.path, MEMORY / f"{self.name}.fdcomm-new"):
            path.unlink(missing_ok=True)


@dataclass(frozen=True)
class SignalRace(Race):
    """A race of signals. ``ranks`` has no meaning here."""

    shipped: Callable[[Any], str]
    ours: Callable[[Any], str]
    ranks: int = 2

    def on_shipped(self) -> str:
        """Return what went wrong as shipped."""
        with SignalWorld("shipped") as world:
            return self.shipped(world)

    def on_ours(self) -> str:
        """Return what went wrong with ours."""
        with SignalWorld("ours") as world:
            return self.ours(world)


def killed_in_a_create(world: SignalWorld) -> str:
    """Kill a create after one of its steps; each time the next create must work."""
    survivor = world.user()
    for step in ("MakeTemp", "TakeLock", SEEN_STEP):
        maker = world.user()
        maker.start("create", 1, stop_at=step)
        maker.kill()
        try:
            survivor.do("create", 2)
        except Refused as error:
            return f"killed after {step}, and the next create says {error}"
        if survivor.do("read") != 2 or (MEMORY / f"{world.name}.fdcomm-new").exists():
            return f"killed after {step}, and something of it is left"
        survivor.do("clear")
    return ""
