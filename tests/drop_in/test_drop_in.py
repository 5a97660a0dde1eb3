"""fdcomm in the place of FastDeploy's package, in an interpreter of its own: with and without a FastDeploy installed.

The installed FastDeploy is one that the test writes: its package fails when its own ``__init__`` or one of the
modules that fdcomm replaces is imported, so a test that passes has not touched them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.tidy.sources import ROOT

pytestmark = pytest.mark.multiproc
LIMIT_S = 60
INSTALL = "import fdcomm.drop_in\nfdcomm.drop_in.install()\n"

_FILES = {
    "fastdeploy/__init__.py": "from fastdeploy.engine import ENGINE\n",
    "fastdeploy/engine.py": "from fastdeploy.inter_communicator import EngineWorkerQueue as ENGINE\n",
    "fastdeploy/inter_communicator/__init__.py": "raise RuntimeError('the original was imported')\n",
    "fastdeploy/inter_communicator/engine_worker_queue.py": "raise RuntimeError('the original was imported')\n",
    "fastdeploy/inter_communicator/engine_cache_queue.py": "raise RuntimeError('the original was imported')\n",
    "fastdeploy/inter_communicator/ipc_signal_const.py": "raise RuntimeError('the original was imported')\n",
    "fastdeploy/inter_communicator/ipc_signal.py": "raise RuntimeError('the original was imported')\n",
    "fastdeploy/inter_communicator/fmq.py": "raise RuntimeError('the original was imported')\n",
    "fastdeploy/inter_communicator/fmq_factory.py": "raise RuntimeError('the original was imported')\n",
    "fastdeploy/inter_communicator/zmq_client.py": "raise RuntimeError('the original was imported')\n",
    "fastdeploy/inter_communicator/zmq_server.py": "raise RuntimeError('the original was imported')\n",
    "fastdeploy/inter_communicator/another.py": "from .ipc_signal_const import ExistTaskStatus\n",
}


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder with a FastDeploy in it."""
    for name, text in _FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    return tmp_path


def _run(program: str, *places: Path) -> tuple[int, str, str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, *places)))}
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=LIMIT_S, check=False)
    return done.returncode, done.stdout, done.stderr


def _works(program: str, *places: Path) -> None:
    code, out, errors = _run(INSTALL + textwrap.dedent(program), *places)
    assert (code, out, errors) == (0, "", "")


QUEUES = """
    import fdcomm
    from fastdeploy.inter_communicator import EngineCacheQueue, EngineWorkerQueue
    from fastdeploy.inter_communicator.engine_worker_queue import EngineWorkerQueue as by_module
    from fastdeploy.inter_communicator.engine_cache_queue import EngineCacheQueue as cache_by_module
    assert EngineWorkerQueue is by_module is fdcomm.EngineWorkerQueue
    assert EngineCacheQueue is cache_by_module is fdcomm.EngineCacheQueue
    import fastdeploy.inter_communicator
    assert fastdeploy.inter_communicator.EngineWorkerQueue is EngineWorkerQueue
    assert fastdeploy.inter_communicator.engine_worker_queue.EngineWorkerQueue is EngineWorkerQueue
    from fastdeploy import inter_communicator
    assert inter_communicator is fastdeploy.inter_communicator
    """
CONSTANTS = """
    from fastdeploy.inter_communicator import (
        ExistTaskStatus, KVCacheStatus, ModelWeightsStatus, PrefixTreeStatus, RearrangeExpertStatus,
    )
    import fastdeploy.inter_communicator.ipc_signal_const as const
    assert const.ModelWeightsStatus is ModelWeightsStatus
    for status in (ModelWeightsStatus, PrefixTreeStatus, KVCacheStatus):
        assert (status.NORMAL, status.UPDATING, status.CLEARING, status.CLEARED) == (0, 1, -1, -2)
        assert isinstance(status.NORMAL, int) and str(status.NORMAL) == "0"
    assert (ExistTaskStatus.EMPTY, ExistTaskStatus.EXIST, ExistTaskStatus.REFUSE) == (0, 1, 2)
    assert [(s.name, s.value) for s in RearrangeExpertStatus] == [
        ("FREE", 0), ("DOING", 1), ("LOAD_SUCC", 2), ("DONE", 3),
    ]
    """
A_RUN = """
    from fastdeploy.inter_communicator import EngineWorkerQueue
    server = EngineWorkerQueue(address=("0.0.0.0", 0), is_server=True, num_client=1)
    worker = EngineWorkerQueue(("0.0.0.0", server.get_server_port()), num_client=1, client_id=0)
    server.put_tasks((["a task"], 1))
    assert worker.exist_tasks()
    assert worker.get_tasks() == ([(["a task"], 1)], True)
    worker.close()
    server.cleanup()
    """
# What FastDeploy's modules do with signals, as they do it: a size and raw bytes, a second creation, existence by name.
SIGNALS = """
    import os
    import numpy as np
    import fdcomm
    from fastdeploy.inter_communicator import IPCSignal, shared_memory_exists
    from fastdeploy.inter_communicator.ipc_signal import IPCSignal as by_module, shared_memory_exists as exists
    assert IPCSignal is by_module is fdcomm.IPCSignal and shared_memory_exists is exists
    port = f"drop-in-{os.getpid()}"
    first = IPCSignal(name="kv_cache_status", array=np.zeros([1], dtype=np.int32), dtype=np.int32, suffix=port,
                      create=True)
    worker = IPCSignal(name="kv_cache_status", array=np.zeros([1], dtype=np.int32), dtype=np.int32, suffix=port,
                       create=False)
    first.value[0] = 5
    assert worker.value[0] == 5 and shared_memory_exists(f"kv_cache_status.{port}")
    raw = IPCSignal("ips_list", shm_size=32, suffix=port)
    raw.shm.buf[:3] = b"abc"
    other = IPCSignal("ips_list", shm_size=32, suffix=port, create=False)
    assert bytes(other.shm.buf[:3]) == b"abc" and other.value is None and other.shm.size == 32
    worker.clear()
    assert shared_memory_exists(f"kv_cache_status.{port}")
    for signal in (first, raw, other):
        signal.clear()
        signal.clear()
    assert not shared_memory_exists(f"kv_cache_status.{port}") and not shared_memory_exists(f"ips_list.{port}")
    """
# Requests, and results to a socket of FastDeploy's own at its path.
ZMQ = """
    import os, pickle, threading, zmq
    from fastdeploy.inter_communicator import ZmqIpcClient, ZmqIpcServer, ZmqTcpServer
    from fastdeploy.inter_communicator.zmq_server import ZmqIpcServer as by_module, ZmqServerBase
    from fastdeploy.inter_communicator.zmq_client import ZmqClientBase
    assert ZmqIpcServer is by_module and issubclass(ZmqTcpServer, ZmqServerBase)
    name = f"drop-in-{os.getpid()}"
    requests = ZmqIpcServer(name=name, mode=zmq.PULL)
    client = ZmqIpcClient(name=name, mode=zmq.PUSH)
    client.connect()
    client.send_json({"request_id": "a"})
    assert requests.receive_json_once(True) == (None, {"request_id": "a"})
    responses = ZmqIpcServer(name=name, mode=zmq.ROUTER)
    handles = threading.Thread(target=responses.recv_result_handle, daemon=True)
    handles.start()
    with zmq.Context() as context, context.socket(zmq.DEALER) as dealer:
        dealer.connect(f"ipc:///dev/shm/router_{name}.ipc")
        dealer.send_multipart([b"", b"a"])
        responses.send_response("a", [{"finished": True}])
        assert pickle.loads(dealer.recv_multipart()[1]) == [{"finished": True}]
    client.close()
    requests.close()
    responses.close()
    handles.join()
    assert not os.path.lexists(f"/dev/shm/router_{name}.ipc") and not os.path.lexists(f"/dev/shm/{name}.socket")
    """
# What a worker and the engine do with the queue of control results.
FMQ = """
    import asyncio, os
    from fastdeploy.inter_communicator.fmq import FMQ, Config, Endpoint, Message, SocketOptions
    from fastdeploy.inter_communicator.fmq_factory import FMQFactory
    name = f"ctrl_w2e_rank0_{os.getpid()}"
    produced = FMQ().queue(name, "producer")
    consumed = FMQ().queue(name, "consumer")
    asyncio.run(produced.put({"request_id": 1}, shm_threshold=100 << 20))
    async def both():
        return await asyncio.wait_for(consumed.get(timeout=30_000), 40)
    message = asyncio.run(both())
    assert isinstance(message, Message) and message.payload == {"request_id": 1}
    assert asyncio.run(consumed.get(timeout=1)) is None
    asyncio.run(FMQ().destroy())
    """
PROGRAMS = {"queues": QUEUES, "constants": CONSTANTS, "a run": A_RUN, "signals": SIGNALS, "zmq": ZMQ, "fmq": FMQ}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_without_fastdeploy(program: str) -> None:
    _works(program)


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_with_fastdeploy(installed: Path, program: str) -> None:
    _works(program, installed)


def test_the_engine_gets_it_while_it_is_imported(installed: Path) -> None:
    program = """
        import fastdeploy, fdcomm
        assert fastdeploy.ENGINE is fdcomm.EngineWorkerQueue
        assert fastdeploy.inter_communicator.EngineWorkerQueue is fdcomm.EngineWorkerQueue
        assert fastdeploy.__file__.endswith("__init__.py")
        """
    _works(program, installed)


def test_another_module_is_the_installed_one(installed: Path) -> None:
    program = """
        from fastdeploy.inter_communicator import another
        from fdcomm.status_constants import ExistTaskStatus
        assert another.ExistTaskStatus is ExistTaskStatus
        """
    _works(program, installed)


def test_the_plain_form_of_fmq(installed: Path) -> None:
    program = """
        import os
        import fdcomm.drop_in
        fdcomm.drop_in.install(fmq="plain")
        from fdcomm.drop_in_zmq import fmq_plain
        from fastdeploy.inter_communicator.fmq import FMQ
        from fastdeploy.inter_communicator.fmq_factory import FMQFactory
        producer = FMQFactory.q_w2e_producer(f"rank{os.getpid()}")
        consumer = FMQFactory.q_w2e_consumer(f"rank{os.getpid()}")
        producer.put([1])
        assert consumer.get() == [1]
        assert FMQ is fmq_plain.FMQ
        """
    code, out, errors = _run(program, installed)
    assert (code, out, errors) == (0, "", "")


def test_no_such_form_of_fmq() -> None:
    code, _, errors = _run("import fdcomm.drop_in\nfdcomm.drop_in.install(fmq='other')\n")
    assert code != 0
    assert "neither 'coroutines' nor 'plain'" in errors


def test_without_pyzmq_the_other_modules_work(tmp_path: Path) -> None:
    (tmp_path / "zmq.py").write_text("raise ModuleNotFoundError(\"No module named 'zmq'\", name='zmq')\n")
    program = (
        INSTALL
        + """
from fastdeploy.inter_communicator import EngineWorkerQueue
try:
    from fastdeploy.inter_communicator import ZmqIpcClient
except ModuleNotFoundError as error:
    assert error.name == "zmq", error
else:
    raise SystemExit("imported")
"""
    )
    code, out, errors = _run(program, tmp_path)
    assert (code, out, errors) == (0, "", "")


def test_modules_and_names_that_nobody_has(installed: Path) -> None:
    program = """
        import importlib
        import fastdeploy.inter_communicator as package
        assert not hasattr(package, "SomethingElse")
        for name in ("fastdeploy.inter_communicator.something", "fastdeploy.something"):
            try:
                importlib.import_module(name)
            except ModuleNotFoundError as error:
                assert error.name == name
            else:
                raise SystemExit(name)
        """
    _works(program)
    _works(program, installed)


def test_twice_is_once(installed: Path) -> None:
    program = """
        import sys
        before = list(sys.meta_path)
        fdcomm.drop_in.install()
        from fastdeploy.inter_communicator import EngineWorkerQueue
        fdcomm.drop_in.install()
        assert sys.meta_path == before
        assert EngineWorkerQueue is fdcomm.EngineWorkerQueue
        """
    _works(program, installed)


def test_too_late_is_said(tmp_path: Path) -> None:
    package = tmp_path / "fastdeploy" / "inter_communicator"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").touch()
    (package / "__init__.py").touch()
    program = """
        import fastdeploy.inter_communicator
        import fdcomm, fdcomm.drop_in
        try:
            fdcomm.drop_in.install()
        except fdcomm.ConfigError as error:
            assert "before anything of FastDeploy" in str(error)
        else:
            raise SystemExit("installed")
        """
    code, out, errors = _run(program, tmp_path)
    assert (code, out, errors) == (0, "", "")


def test_nothing_of_fastdeploy_is_imported_by_the_installation(installed: Path) -> None:
    _works("import sys\nassert not [name for name in sys.modules if name.startswith('fastdeploy')]\n", installed)


def test_without_the_installation_the_original_is_imported(installed: Path) -> None:
    """What the other tests prove is the installation's doing."""
    code, _, errors = _run("import fastdeploy", installed)
    assert code != 0
    assert "the original was imported" in errors
