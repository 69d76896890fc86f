"""The lock files have hashes and no URLs, include each other in order, and match pyproject.toml."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

NAMES = ("tools", "run", "dev")
CLIENTS = sorted((ROOT / "tests").glob("*/requirements/*.in"))
PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)")


def lock_text(name: str) -> str:
    """Return the text of a lock file."""
    return (ROOT / f"requirements/{name}.txt").read_text(encoding="utf-8")


def entries(text: str) -> list[str]:
    """Return one line per requirement with its hashes."""
    return [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]


def pins(lines: list[str]) -> dict[str, str]:
    """Return the version of each pinned package."""
    return {match[1].lower().replace("_", "-"): match[2] for line in lines if (match := PIN.match(line))}


def project() -> dict[str, Any]:
    """Parse pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_every_package_is_pinned_and_hashed(name: str) -> None:
    """Each entry is one exact version with at least one hash, and there are no other lines."""
    lines = entries(lock_text(name))
    assert lines
    for line in lines:
        assert PIN.match(line), line
        assert "--hash=sha256:" in line, line


@pytest.mark.parametrize("name", NAMES)
def test_no_lock_names_a_host(name: str) -> None:
    """There is no URL and no index option: each machine configures its own index."""
    text = lock_text(name)
    assert "://" not in text
    assert not re.search(r"^\s*(-i|-f|--(?!hash))", text, re.MULTILINE)


@pytest.mark.parametrize("wanted", CLIENTS, ids=[path.stem for path in CLIENTS])
def test_each_client_has_a_hashed_lock(wanted: Path) -> None:
    """The lock of a client has the version that is asked for, hashes, and no host."""
    text = wanted.with_suffix(".txt").read_text(encoding="utf-8")
    lines = entries(text)
    assert pins(entries(wanted.read_text(encoding="utf-8"))).items() <= pins(lines).items()
    assert all(PIN.match(line) and "--hash=sha256:" in line for line in lines)
    assert "://" not in text


def test_each_lock_holds_the_one_before() -> None:
    """Packages of `start` keep their versions when `test` installs more."""
    tools, run, dev = ({*entries(lock_text(name))} for name in NAMES)
    assert tools < run < dev


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("tools", project()["dependency-groups"]["tools"]),
        *(("run", wanted) for name, wanted in project()["project"]["optional-dependencies"].items()),
        ("run", project()["dependency-groups"]["build"]),
        ("dev", [line for line in project()["dependency-groups"]["dev"] if isinstance(line, str)]),
    ],
)
def test_the_locks_have_the_versions_of_the_project(name: str, wanted: list[str]) -> None:
    """Every pin of pyproject.toml is in its lock with the same version."""
    expected = pins(wanted)
    assert expected
    assert expected.items() <= pins(entries(lock_text(name))).items()


def test_the_build_uses_the_versions_of_the_lock() -> None:
    """Pip installs `build-system.requires` with the versions of the lock."""
    required = pins(project()["build-system"]["requires"])
    assert required
    assert required.items() <= pins(entries(lock_text("run"))).items()
