"""A copy of the bootstrap, so that no test touches this repository's .venv."""

import importlib.machinery
import importlib.util
import shutil
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import ROOT

NEEDED = ("just", "justfile", "pyproject.toml", "hatch_build.py", "requirements")


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """Copy the files that the bootstrap reads to a separate repository."""
    repository = tmp_path / "repository"
    repository.mkdir()
    for name in NEEDED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        copy(ROOT / name, repository / name)
    return repository


@pytest.fixture
def bootstrap(copied: Path) -> ModuleType:
    """Import the copied `just` as a module."""
    loader = importlib.machinery.SourceFileLoader("bootstrap", str(copied / "just"))
    spec = importlib.util.spec_from_loader("bootstrap", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module
