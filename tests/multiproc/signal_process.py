"""Interpreters of all versions that are here, and processes of them that do things with signals."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.faults.remote import LIMIT_S, ROOT

__all__ = ("VERSIONS", "Refused", "SignalProcess", "interpreters")

VERSIONS = ((3, 10), (3, 11), (3, 12), (3, 13))


@cache
def interpreters() -> dict[str, str]:
    """Return the supported interpreters of this machine: version -> command. This one comes first."""
    found = {f"{sys.version_info[0]}.{sys.version_info[1]}": sys.executable}
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for major, minor in VERSIONS:
        version = f"{major}.{minor}"
        places = [ROOT / ".venvs" / version / "bin" / "python", *sorted(pyenv.glob(f"{version}.*/bin/python"))]
        for python in places:
            if version in found or not python.exists():
                continue
            works = subprocess.run([python, "-c", "import fdcomm"], cwd=ROOT, timeout=LIMIT_S, capture_output=True)
            if works.returncode == 0:
                found[version] = str(python)
    return found


class Refused(Exception):
    """The process answered with an error."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(f"{name}: {text}")
        self.name = name


class SignalProcess:
    """One process that runs ``tests.multiproc.signal_child``. A context manager: it is ended at the end."""

    def __init__(self, python: str = sys.executable, **environment: str) -> None:
        self.process = subprocess.Popen(
            [python, "-W", "error", "-m", "tests.multiproc.signal_child"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )

    def tell(self, *order: Any) -> Any:
        """Give an order and wait for the answer. The test's own time limit is the watchdog."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"the process ended: {self.process.communicate(timeout=LIMIT_S)[1]}")
        answer = json.loads(line)
        if isinstance(answer, dict):
            raise Refused(answer["error"], answer["text"])
        return answer

    def exit(self) -> None:
        """Let it end in an orderly way; it must have printed nothing beside its answers."""
        out, errors = self.process.communicate('["exit", ""]\n', timeout=LIMIT_S)
        assert (self.process.returncode, out, errors) == (0, "", "")

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        self.process.kill()
        self.process.communicate(timeout=LIMIT_S)

    def __enter__(self) -> SignalProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.returncode is None:
            self.kill()
