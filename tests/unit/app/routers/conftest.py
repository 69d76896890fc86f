"""An app with a separate data folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.running_app import RunningApp, settings_for


@pytest.fixture
def own(tmp_path: Path) -> Iterator[RunningApp]:
    """Run an app with a separate data folder and simulator."""
    with RunningApp(settings_for(tmp_path / "data")) as running:
        yield running
