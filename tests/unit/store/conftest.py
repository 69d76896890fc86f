"""A fresh database for each test, and a journal on it that flushes without delay."""

from tests.support.disk import disk, kind, pytest_generate_tests, store

__all__ = ["disk", "kind", "pytest_generate_tests", "store"]
