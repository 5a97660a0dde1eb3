"""The programs in the documentation run as they are printed (but for the port)."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.tidy.sources import ROOT

LIMIT_S = 90


def _programs(page: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)


def _start(program: Path, *arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}
    command = [sys.executable, str(program), *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment, cwd=program.parent)


def _entered(stack: ExitStack, process: subprocess.Popen[str]) -> subprocess.Popen[str]:
    stack.enter_context(process)
    stack.callback(process.kill)  # nothing survives a failed assertion; for an ended process it does nothing
    return process


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _output(process: subprocess.Popen[str]) -> str:
    out, errors = process.communicate(timeout=LIMIT_S)
    assert (process.returncode, errors) == (0, "")
    return out


@pytest.mark.multiproc
@pytest.mark.parametrize("number", range(2))
def test_the_readme_programs_print_what_they_say(number: int, tmp_path: Path) -> None:
    text = _programs("README.md")[number]
    program = tmp_path / "readme.py"
    program.write_text(text)
    (said,) = re.findall(r"print\(.*\)  # (.*)", text)
    with ExitStack() as stack:
        process = _entered(stack, _start(program))
        assert _output(process) == said + "\n"


@pytest.mark.multiproc
def test_the_quickstart_programs_run_together(tmp_path: Path) -> None:
    port = str(_free_port())
    for text in _programs("docs/quickstart.md"):
        name = text.splitlines()[0].removeprefix("# ")
        assert "5000" in text
        (tmp_path / name).write_text(text.replace("5000", port))
    with ExitStack() as stack:
        engine = _entered(stack, _start(tmp_path / "engine.py"))
        workers = [_entered(stack, _start(tmp_path / "worker.py", rank)) for rank in "01"]
        for rank, worker in enumerate(workers):
            assert _output(worker).splitlines() == [f"rank {rank}: ['prompt {number}']" for number in range(3)]
        assert _output(engine) == "every rank has taken every batch\n"
