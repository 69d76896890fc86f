"""A fresh database for each test, on SQLite and PostgreSQL."""

from tests.support.disk import disk, kind, pytest_generate_tests

__all__ = ["disk", "kind", "pytest_generate_tests"]
