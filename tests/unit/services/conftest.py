"""Fixtures of the services' tests."""

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def early_objects_apart() -> Iterator[None]:
    """Exempt imported objects from collection, which took 0.1 s per test."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def nothing_left_open(early_objects_apart: None) -> Iterator[None]:
    """Collect garbage, so that an open socket warns in the test that left it."""
    yield
    gc.collect()
