"""What is installed: fdcomm alone, typed, without dependencies, and working without the checkout."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from tests.tidy.sources import ROOT, modules

pytest.importorskip("hatchling", reason="hatchling comes with the [test] extra")

_USE = """
import fdcomm, pathlib, sys
assert pathlib.Path(fdcomm.__file__).is_relative_to(sys.argv[1]), fdcomm.__file__
with fdcomm.EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=1, client_id=0) as queue:
    queue.put_tasks("batch", timeout=60)
    assert queue.get_tasks(timeout=60) == (["batch"], True)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=100)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    code = {str(path.relative_to(ROOT)) for path in modules("fdcomm")}
    assert {name for name in names if ".dist-info/" not in name} == code | {"fdcomm/py.typed"}
    assert any(name.endswith("LICENSE") for name in names)


def test_the_wheel_needs_only_python(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
    metadata = Parser().parsestr(archive.read(name).decode())
    assert metadata["Requires-Python"] == ">=3.10"
    assert metadata["Name"] == "fdcomm"
    needs = metadata.get_all("Requires-Dist") or []
    assert needs
    assert [need for need in needs if "extra ==" not in need] == []


@pytest.mark.multiproc
def test_the_wheel_works_away_from_the_checkout(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    # -I keeps the checkout off the path, -S the environment's packages.
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{_USE}"
    command = [sys.executable, "-I", "-S", "-W", "error", "-c", code, str(tmp_path)]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=100)
