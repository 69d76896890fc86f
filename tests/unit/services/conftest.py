"""What the tests of the services share."""

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def early_objects_apart() -> Iterator[None]:
    """Keep what is imported already out of each collection of this file: looking through it took 0.1 s per test."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def nothing_left_open(early_objects_apart: None) -> Iterator[None]:
    """Collect here, so that a socket left open warns inside the test that left it."""
    yield
    gc.collect()
