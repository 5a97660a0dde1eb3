"""SIGKILL of the host at each fault point of every protocol: HostLostError for everybody, and a fresh start."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fdcomm import ConfigError, EngineWorkerQueue, HostLostError
from fdcomm.testing.faults import VARIABLE, Fault, as_text
from tests.faults.host_acts import ACTS, POINTS, Stage
from tests.faults.remote import NIGHTLY, ROOT, host_pid, is_gone, until

# dispatch, bitmask, cache_info and connect are one channel class: by default each of its points in one of them.
_ONE_OF = {point: protocol for protocol, point in reversed(POINTS)}
_ROWS = [row for row in POINTS if NIGHTLY or _ONE_OF[row[1]] == row[0]]
_RESTARTED = [row for number, row in enumerate(_ROWS) if NIGHTLY or number % 4 == 0]


@pytest.mark.parametrize(("protocol", "point"), _ROWS)
def test_the_host_is_killed_at(protocol: str, point: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, act = ACTS[protocol]
    # The server's own session connects to each broadcast channel: four of the worker's, and one of the cache's.
    before = {"worker": 3, "cache": 1}[kind] if point == "Connect.done" else 0
    monkeypatch.setenv(VARIABLE, as_text([Fault(point, "kill", before + 1)]))
    stage = Stage(kind)
    monkeypatch.delenv(VARIABLE)
    try:
        with pytest.raises(HostLostError):
            _until_it_dies(stage, act)
        for wait in stage.waits:
            assert isinstance(wait.error(), HostLostError)
        for handle in stage.handles:
            with pytest.raises(HostLostError):
                handle.statistics()
        until(lambda: is_gone(host_pid(stage.engine)), "the host ends")
        if (protocol, point) in _RESTARTED:
            address = stage.engine.address
            with type(stage.engine)(address, is_server=True) as new, type(new)(address, client_id=0) as rank:
                assert rank.statistics().puts == new.statistics().puts == 0
        assert stage.engine._host._process.wait() == -signal.SIGKILL
    finally:
        for handle in reversed(stage.handles):
            handle._release(goodbye=False)


def _until_it_dies(stage: Stage, act: Callable[[Stage], None]) -> None:
    act(stage)
    stage.engine.statistics()  # it died while a handle was closed, which does not raise


def test_the_host_is_killed_in_the_servers_constructor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "Connect.done=kill")
    with pytest.raises(HostLostError):
        EngineWorkerQueue(("0.0.0.0", 0), is_server=True)


def test_a_wrong_fault_is_refused_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "PutTasks.done=explode")
    with pytest.raises(ConfigError, match="explode"):
        EngineWorkerQueue(("0.0.0.0", 0), is_server=True)


def test_every_point_of_the_hosts_is_in_the_list() -> None:
    """What the sources name: ``point("...")`` and ``_record("...")``. Some protocols have kills of their own."""
    named: set[str] = set()
    elsewhere = {"pause_channel.py", "status_channel.py", "readiness_channel.py", "readiness_loops.py"}
    for file in (ROOT / "fdcomm" / "host").glob("*.py"):
        if file.name in elsewhere:
            continue
        text = file.read_text(encoding="utf-8")
        named |= set(re.findall(r'point\("([\w.]+)"\)', text))
        for first, second in re.findall(r'_record\(\s*"(\w+)"(?: if \w+ else "(\w+)")?', text):
            named |= {f"{name}.done" for name in (first, second) if name}
        named |= {f"{name}.done" for name in re.findall(r'action, who = "(\w+)"', text)}
        table = re.search(r"_ACTION: .*?\{(.*?)\n\}", text, re.DOTALL)
        if table is not None:
            named |= {f"{name}.done" for name in re.findall(r': "(\w+)"', table[1])}
    assert named == {point for _, point in POINTS}


def test_a_host_without_faults_does_not_import_the_injector() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); from fdcomm.host.main import _runtime; "
        "from fdcomm.runtime import SYSTEM; assert _runtime() is SYSTEM; "
        "assert not [name for name in sys.modules if name.startswith('fdcomm.testing')]"
    )
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    subprocess.run([sys.executable, "-S", "-c", code], env=environment, cwd=Path("/"), check=True, timeout=60)
