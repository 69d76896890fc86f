"""A database of its own for each test, and a journal on it that waits for nothing."""

from tests.support.disk import disk, kind, pytest_generate_tests, store

__all__ = ["disk", "kind", "pytest_generate_tests", "store"]
