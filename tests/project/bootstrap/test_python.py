"""The bootstrap under an unsupported Python: it runs, finds a newer one, or explains."""

import ast
import sys
from pathlib import Path
from types import ModuleType

import pytest


def test_just_is_read_by_an_old_python(copied: Path) -> None:
    """The file parses as Python 3.6, so that such a version can print the error."""
    ast.parse((copied / "just").read_text(encoding="utf-8"), feature_version=(3, 6))


def test_the_grammar_check_can_fail() -> None:
    """The same check rejects newer syntax, so the test above is meaningful."""
    with pytest.raises(SyntaxError):
        ast.parse("match x:\n    case 1:\n        pass\n", feature_version=(3, 6))


def test_a_wrong_python_gets_one_sentence(bootstrap: ModuleType) -> None:
    """The error names the required version, the found one and what to do."""
    sentence = bootstrap.wrong_python_sentence((3, 9, 2, "final", 0))
    assert "3.11 or newer" in sentence
    assert "this is Python 3.9.2" in sentence
    assert "install" in sentence
    assert "\n" not in sentence


@pytest.fixture
def too_old(bootstrap: ModuleType, monkeypatch, tmp_path: Path) -> Path:
    """Make this Python too old and its PATH empty."""
    monkeypatch.setattr(bootstrap, "OLDEST", (sys.version_info[0], sys.version_info[1] + 1))
    folder = tmp_path / "path"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def put(folder: Path, name: str, exit_code: int) -> Path:
    """Put a program on PATH that always exits with this status."""
    program = folder / name
    program.write_text(f"#!/bin/sh\nexit {exit_code}\n", encoding="utf-8")
    program.chmod(0o755)
    return program


def test_without_a_newer_python_it_explains(bootstrap: ModuleType, too_old: Path) -> None:
    """A program on PATH that does not start (a version manager's shim) is not used."""
    put(too_old, "python3.14", 127)
    with pytest.raises(bootstrap.SetupError, match="needs Python"):
        bootstrap.main(["start"])


def test_a_newer_python_on_path_is_taken(bootstrap: ModuleType, too_old: Path, monkeypatch) -> None:
    """The first newer Python that starts continues with the same arguments."""
    put(too_old, "python3.14", 127)
    wanted = put(too_old, "python3.12", 0)
    calls: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(bootstrap.os, "execv", lambda path, arguments: calls.append((path, arguments)))
    bootstrap.require_python(["start", "--port", "8001"])
    assert [path for path, _ in calls] == [str(wanted)]
    assert calls[0][1][2:] == ["start", "--port", "8001"]
