"""An ahead-of-time cache for TLC's JVM: most of a small run is the JVM loading the same classes again.

Made once per checkout, Java and jar, under ``results/``; the JVM checks that it fits and goes on without it when not.
Java 25 and later can make one.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

from tla import toolchain

__all__ = ("archive_options",)

_FOLDER = Path(__file__).resolve().parent.parent / "results"
_SPEC = """---- MODULE Warm ----
EXTENDS Naturals, Sequences, FiniteSets, TLC
VARIABLE x
Init == x = <<>>
Next == Len(x) < 3 /\\ \\E i \\in 1..2 : x' = Append(x, i)
Spec == Init /\\ [][Next]_x /\\ WF_x(Next)
Small == Cardinality({i \\in 1..2 : TRUE}) = 2
Grows == <>(Len(x) = 3)
====
"""
_CONFIG = "SPECIFICATION Spec\nINVARIANT Small\nPROPERTY Grows\n"


@functools.cache
def archive_options(flags: tuple[str, ...]) -> tuple[str, ...]:
    """Return the JVM options that use the cache for runs with ``flags``; () where none can be made."""
    java, jar = toolchain.java(), toolchain.jar()
    ages = [str(Path(file).resolve().stat().st_mtime_ns) for file in (java, jar)]
    said = "\0".join((java, str(jar), *ages, *flags))
    path = _FOLDER / f"tlc-{hashlib.sha256(said.encode()).hexdigest()[:16]}.aot"
    if not path.is_file():
        _FOLDER.mkdir(exist_ok=True)
        with open(_FOLDER / "tlc.lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # processes that start together make one
            if not path.is_file():
                _make(java, jar, flags, path)
    return (f"-XX:AOTCache={path}",) if path.stat().st_size else ()


def _make(java: str, jar: Path, flags: tuple[str, ...], path: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="fdcomm-tlc-") as name:
        folder = Path(name)
        (folder / "Warm.tla").write_text(_SPEC, encoding="utf-8")
        (folder / "Warm.cfg").write_text(_CONFIG, encoding="utf-8")
        fresh = folder / "fresh.aot"
        command = [java, *flags, f"-XX:AOTCacheOutput={fresh}", f"-Djava.io.tmpdir={folder}", "-cp", str(jar)]
        command += ["tlc2.TLC", "-tool", "-nowarning", "-deadlock", "-metadir", str(folder / "meta"), "Warm.tla"]
        try:
            subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False, cwd=folder)
        except subprocess.TimeoutExpired:
            fresh.unlink(missing_ok=True)
        temporary = path.with_suffix(f".{os.getpid()}")
        temporary.write_bytes(fresh.read_bytes() if fresh.is_file() else b"")  # empty: this Java cannot make one
        os.replace(temporary, path)
