"""What every test may ask for: the asyncio backend, and the recorded provider streams."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

# The same examples in every run, and no stopwatch: a busy machine is no failure.
settings.register_profile("signalbox", derandomize=True, deadline=None, database=None)
settings.load_profile("signalbox")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run async tests on asyncio alone: it is what the app is served on."""
    return "asyncio"


@pytest.fixture(scope="session")
def recordings() -> Path:
    """Return the folder of recorded streams; without it skip with a word, but fail in CI."""
    folder = recordings_folder()
    if folder.is_dir():
        return folder
    sentence = f"no recordings at {folder}: set SIGNALBOX_RECORDINGS"
    if os.environ.get("CI") == "true":
        pytest.fail(sentence)
    pytest.skip(sentence)


def recordings_folder() -> Path:
    """Say where the recordings lie: SIGNALBOX_RECORDINGS, else beside the repository."""
    return Path(os.environ.get("SIGNALBOX_RECORDINGS") or ROOT / "../shared/recordings").resolve()
