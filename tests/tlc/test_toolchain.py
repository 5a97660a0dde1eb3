"""What is missing is named, with what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tla import toolchain
from tla.toolchain import ToolMissingError


@pytest.mark.tlc
def test_the_pinned_tools_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TLA2TOOLS_JAR", raising=False)
    assert toolchain.jar().name == "tla2tools.jar"
    assert Path(toolchain.java()).is_file()


def test_a_jar_of_ones_own_is_taken_as_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    chosen = tmp_path / "newer.jar"
    chosen.write_bytes(b"anything")
    monkeypatch.setenv("TLA2TOOLS_JAR", str(chosen))
    assert toolchain.jar() == chosen


def test_a_jar_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TLA2TOOLS_JAR", str(tmp_path / "gone.jar"))
    with pytest.raises(ToolMissingError, match=r"TLA2TOOLS_JAR=.*gone\.jar is not a file"):
        toolchain.jar()


def test_no_jar_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TLA2TOOLS_JAR", raising=False)
    monkeypatch.setattr(toolchain, "find_spec", lambda name: None)
    with pytest.raises(ToolMissingError, match=r"set TLA2TOOLS_JAR .* pip install 'fdcomm\[verify\]'"):
        toolchain.jar()


def test_another_jar_in_the_package_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "tla2tools.jar").write_bytes(b"another build")

    class Spec:
        submodule_search_locations = (str(tmp_path),)

    monkeypatch.delenv("TLA2TOOLS_JAR", raising=False)
    monkeypatch.setattr(toolchain, "find_spec", lambda name: Spec)
    with pytest.raises(ToolMissingError, match="is not the pinned TLC"):
        toolchain.jar()


def test_a_java_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA", str(tmp_path / "java"))
    with pytest.raises(ToolMissingError, match="is not an executable file"):
        toolchain.java()


def test_no_java_at_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(toolchain, "find_spec", lambda name: None)
    with pytest.raises(ToolMissingError, match="no Java runtime: set JAVA"):
        toolchain.java()
