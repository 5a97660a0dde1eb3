"""Let an engine run on fdcomm without editing its source: one line at start-up.

::

    import fdcomm.drop_in; fdcomm.drop_in.install()

From then on ``fastdeploy.inter_communicator`` and its modules ``engine_worker_queue``, ``engine_cache_queue``,
``ipc_signal``, ``ipc_signal_const``, ``fmq``, ``fmq_factory``, ``zmq_client`` and ``zmq_server`` are fdcomm's. The last
four need pyzmq and msgspec (``fdcomm[zmq]``), and are imported when they are asked for.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any, Final, Literal

from fdcomm import status_constants
from fdcomm.cache_queue import EngineCacheQueue
from fdcomm.errors import ConfigError
from fdcomm.signals import IPCSignal, shared_memory_exists
from fdcomm.signals.lock import IPCLock
from fdcomm.worker_queue import EngineWorkerQueue

__all__ = ("PACKAGE", "install")

PACKAGE: Final = "fastdeploy.inter_communicator"

_CONSTANTS: Final = {name: getattr(status_constants, name) for name in status_constants.__all__}
_MODULES: Final[dict[str, dict[str, Any]]] = {
    "engine_worker_queue": {"EngineWorkerQueue": EngineWorkerQueue},
    "engine_cache_queue": {"EngineCacheQueue": EngineCacheQueue},
    "ipc_signal": {"IPCLock": IPCLock, "IPCSignal": IPCSignal, "shared_memory_exists": shared_memory_exists},
    "ipc_signal_const": _CONSTANTS,
}

# What needs ZeroMQ: FastDeploy's module, and ours of the same names.
_LATER: Final = {name: f"fdcomm.drop_in_zmq.{name}" for name in ("fmq", "fmq_factory", "zmq_client", "zmq_server")}

# Names that FastDeploy's package exports of them.
_EXPORTED: Final = {"ZmqIpcClient": "zmq_client", "ZmqIpcServer": "zmq_server", "ZmqTcpServer": "zmq_server"}


def install(*, fmq: Literal["coroutines", "plain"] = "coroutines") -> None:
    """Put fdcomm in the place of ``fastdeploy.inter_communicator``. Idempotent. Imports nothing of FastDeploy.

    Args:
        fmq: FastDeploy has had two forms of ``fmq``: with coroutines, where ``get`` takes milliseconds and returns a
            message, and plain, where it returns the payload. The engine's own calls say which one it expects.

    Raises:
        ConfigError: The package was imported before, so parts of the engine already hold its classes.
    """
    if fmq not in ("coroutines", "plain"):
        raise ConfigError(f"fmq={fmq!r} is neither 'coroutines' nor 'plain'")
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    if PACKAGE in sys.modules:
        raise ConfigError(f"{PACKAGE} is imported already; call fdcomm.drop_in.install() before anything of FastDeploy")
    sys.meta_path.insert(0, _Finder(plain=fmq == "plain"))
    sys.meta_path.append(_Fallback())


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the package and fdcomm's modules in it, before anybody else does."""

    def __init__(self, *, plain: bool) -> None:
        self._plain = plain

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """See :class:`importlib.abc.MetaPathFinder`."""
        del target
        package, _, module = name.rpartition(".")
        if name == PACKAGE:
            spec = importlib.machinery.ModuleSpec(name, _Loader(_whole_package()), origin="fdcomm", is_package=True)
            folders = [os.path.join(place, "inter_communicator") for place in path or ()]
            spec.submodule_search_locations = [folder for folder in folders if os.path.isdir(folder)]
            return spec
        if package == PACKAGE and module in _MODULES:
            return importlib.machinery.ModuleSpec(name, _Loader(_MODULES[module]), origin="fdcomm")
        if package == PACKAGE and module in _LATER:
            ours = _LATER[module] + ("_plain" if self._plain and module.startswith("fmq") else "")
            return importlib.machinery.ModuleSpec(name, _Loader({}, ours), origin="fdcomm")
        return None


class _Fallback(importlib.abc.MetaPathFinder):
    """Stands for a FastDeploy that is not installed: asked when nobody else has found it."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """See :class:`importlib.abc.MetaPathFinder`."""
        del path, target
        if name == PACKAGE.partition(".")[0]:
            return importlib.machinery.ModuleSpec(name, _Loader({}), origin="fdcomm", is_package=True)
        return None


class _Loader(importlib.abc.Loader):
    """Makes a module that has the given names, and those of another one."""

    def __init__(self, contents: dict[str, Any], source: str | None = None) -> None:
        self._contents = contents
        self._source = source

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """See :class:`importlib.abc.Loader`."""
        return (_Package if spec.name == PACKAGE else ModuleType)(
            spec.name, f"fdcomm in the place of FastDeploy's {spec.name}."
        )

    def exec_module(self, module: ModuleType) -> None:
        """See :class:`importlib.abc.Loader`."""
        module.__dict__.update(self._contents)
        if self._source is not None:
            source = importlib.import_module(self._source)
            module.__dict__.update({name: getattr(source, name) for name in source.__all__})


class _Package(ModuleType):
    """The package. What needs ZeroMQ is imported when it is asked for."""

    def __getattr__(self, name: str) -> Any:
        module = _EXPORTED.get(name)
        if module is None:
            raise AttributeError(f"module {PACKAGE!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{PACKAGE}.{module}"), name)


def _whole_package() -> dict[str, Any]:
    contents: dict[str, Any] = {}
    for names in _MODULES.values():
        contents.update(names)
    return contents
