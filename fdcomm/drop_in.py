"""Let an engine run on fdcomm without editing its source: one line at start-up.

::

    import fdcomm.drop_in; fdcomm.drop_in.install()

From then on ``fastdeploy.inter_communicator`` and its modules ``engine_worker_queue``, ``engine_cache_queue`` and
``ipc_signal_const`` are fdcomm's. What fdcomm does not have yet (``ipc_signal``, ``fmq``, ``fmq_factory``,
``zmq_client``, ``zmq_server``) still comes from the installed FastDeploy; without one, asking for it is an ImportError.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import os
import sys
from types import ModuleType
from typing import Any, Final

from fdcomm import status_constants
from fdcomm.cache_queue import EngineCacheQueue
from fdcomm.errors import ConfigError
from fdcomm.worker_queue import EngineWorkerQueue

__all__ = ("PACKAGE", "install")

PACKAGE: Final = "fastdeploy.inter_communicator"

_CONSTANTS: Final = {name: getattr(status_constants, name) for name in status_constants.__all__}
_MODULES: Final[dict[str, dict[str, Any]]] = {
    "engine_worker_queue": {"EngineWorkerQueue": EngineWorkerQueue},
    "engine_cache_queue": {"EngineCacheQueue": EngineCacheQueue},
    "ipc_signal_const": _CONSTANTS,
}

# Names that FastDeploy's package exports and fdcomm does not have yet, and the module that FastDeploy has them in.
_ELSEWHERE: Final = {
    "IPCSignal": "ipc_signal",
    "shared_memory_exists": "ipc_signal",
    "ZmqIpcClient": "zmq_client",
    "ZmqIpcServer": "zmq_server",
    "ZmqTcpServer": "zmq_server",
}


def install() -> None:
    """Put fdcomm in the place of ``fastdeploy.inter_communicator``. Idempotent.

    Raises:
        ConfigError: The package was imported before, so parts of the engine already hold its classes.
    """
    present = sys.modules.get(PACKAGE)
    if isinstance(present, _Package):
        return
    if present is not None:
        raise ConfigError(f"{PACKAGE} is imported already; call fdcomm.drop_in.install() before anything of FastDeploy")
    package = _Package(PACKAGE, _installed_path())
    sys.modules[PACKAGE] = package
    for name, contents in _MODULES.items():
        module = ModuleType(f"{PACKAGE}.{name}", f"fdcomm in the place of {PACKAGE}.{name}.")
        module.__dict__.update(contents, __spec__=_spec(module.__name__))
        sys.modules[module.__name__] = module
        setattr(package, name, module)
        package.__dict__.update(contents)
    parent = sys.modules.get("fastdeploy")
    if parent is None and importlib.util.find_spec("fastdeploy") is None:
        parent = ModuleType("fastdeploy", "Stands for FastDeploy, which is not installed.")
        parent.__dict__.update(__path__=[], __spec__=_spec("fastdeploy", is_package=True))
        sys.modules["fastdeploy"] = parent
    if parent is not None:
        parent.__dict__["inter_communicator"] = package


class _Package(ModuleType):
    """The package. What is not fdcomm's is looked up in the installed FastDeploy when it is asked for."""

    def __init__(self, name: str, path: list[str]) -> None:
        super().__init__(name, "fdcomm in the place of FastDeploy's inter_communicator.")
        self.__path__ = path
        self.__spec__ = _spec(name, is_package=True)

    def __getattr__(self, name: str) -> Any:
        module = _ELSEWHERE.get(name)
        if module is None:
            raise AttributeError(f"module {PACKAGE!r} has no attribute {name!r}")
        try:
            return getattr(importlib.import_module(f"{PACKAGE}.{module}"), name)
        except ModuleNotFoundError as error:
            raise ImportError(f"{name} is not in fdcomm yet, and FastDeploy, which has it, is not installed") from error


def _spec(name: str, *, is_package: bool = False) -> importlib.machinery.ModuleSpec:
    return importlib.machinery.ModuleSpec(name, None, origin="fdcomm", is_package=is_package)


def _installed_path() -> list[str]:
    """Return the folder of the installed FastDeploy's package, without importing FastDeploy."""
    found = importlib.util.find_spec("fastdeploy")
    folders = (
        [os.path.join(place, "inter_communicator") for place in (found.submodule_search_locations or [])]
        if found
        else []
    )
    return [folder for folder in folders if os.path.isdir(folder)]
