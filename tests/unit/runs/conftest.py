"""The journal and the run store, over a disk that tests can block."""

from tests.support.disk import disk, kind, pytest_generate_tests, store

__all__ = ["disk", "kind", "pytest_generate_tests", "store"]
