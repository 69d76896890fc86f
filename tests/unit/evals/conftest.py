"""Sets in the folder of a test."""

from collections.abc import Callable
from pathlib import Path

import pytest
from signalbox.evals.loading import LoadedSet, load_set

Load = Callable[[str], LoadedSet]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Write a set into the folder of the test and load it."""

    def loaded(text: str) -> LoadedSet:
        path = tmp_path / "set.toml"
        path.write_text(text, encoding="utf-8")
        return load_set(path)

    return loaded
