"""Let an engine run on fdcomm without editing its source: one line at start-up.

::

    import fdcomm.drop_in; fdcomm.drop_in.install()

From then on ``fastdeploy.inter_communicator`` and its modules ``engine_worker_queue``, ``engine_cache_queue``,
``ipc_signal`` and ``ipc_signal_const`` are fdcomm's. What fdcomm does not have yet (``fmq``, ``fmq_factory``,
``zmq_client``, ``zmq_server``) still comes from the installed FastDeploy; without one, asking for it is an ImportError.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any, Final

from fdcomm import status_constants
from fdcomm.cache_queue import EngineCacheQueue
from fdcomm.errors import ConfigError
from fdcomm.signals import IPCSignal, shared_memory_exists
from fdcomm.worker_queue import EngineWorkerQueue

__all__ = ("PACKAGE", "install")

PACKAGE: Final = "fastdeploy.inter_communicator"

_CONSTANTS: Final = {name: getattr(status_constants, name) for name in status_constants.__all__}
_MODULES: Final[dict[str, dict[str, Any]]] = {
    "engine_worker_queue": {"EngineWorkerQueue": EngineWorkerQueue},
    "engine_cache_queue": {"EngineCacheQueue": EngineCacheQueue},
    "ipc_signal": {"IPCSignal": IPCSignal, "shared_memory_exists": shared_memory_exists},
    "ipc_signal_const": _CONSTANTS,
}

# Names that FastDeploy's package exports and fdcomm does not have yet, and the module that FastDeploy has them in.
_ELSEWHERE: Final = {
    "ZmqIpcClient": "zmq_client",
    "ZmqIpcServer": "zmq_server",
    "ZmqTcpServer": "zmq_server",
}


def install() -> None:
    """Put fdcomm in the place of ``fastdeploy.inter_communicator``. Idempotent. Imports nothing of FastDeploy.

    Raises:
        ConfigError: The package was imported before, so parts of the engine already hold its classes.
    """
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    if PACKAGE in sys.modules:
        raise ConfigError(f"{PACKAGE} is imported already; call fdcomm.drop_in.install() before anything of FastDeploy")
    sys.meta_path.insert(0, _Finder())
    sys.meta_path.append(_Fallback())


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the package and fdcomm's modules in it, before anybody else does."""

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
    """Makes a module that has the given names."""

    def __init__(self, contents: dict[str, Any]) -> None:
        self._contents = contents

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """See :class:`importlib.abc.Loader`."""
        return (_Package if spec.name == PACKAGE else ModuleType)(
            spec.name, f"fdcomm in the place of FastDeploy's {spec.name}."
        )

    def exec_module(self, module: ModuleType) -> None:
        """See :class:`importlib.abc.Loader`."""
        module.__dict__.update(self._contents)


class _Package(ModuleType):
    """The package. What is not fdcomm's is looked up in the installed FastDeploy when it is asked for."""

    def __getattr__(self, name: str) -> Any:
        module = _ELSEWHERE.get(name)
        if module is None:
            raise AttributeError(f"module {PACKAGE!r} has no attribute {name!r}")
        full_name = f"{PACKAGE}.{module}"
        try:
            return getattr(importlib.import_module(full_name), name)
        except ModuleNotFoundError as error:
            if error.name != full_name:  # it is there, and lacks something itself
                raise
            raise ImportError(f"{name} is not in fdcomm yet, and FastDeploy, which has it, is not installed") from error


def _whole_package() -> dict[str, Any]:
    contents: dict[str, Any] = {}
    for names in _MODULES.values():
        contents.update(names)
    return contents
