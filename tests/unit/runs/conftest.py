"""The journal and the run store, on a disk that tests can hold."""

from tests.support.disk import disk, kind, pytest_generate_tests, store

__all__ = ["disk", "kind", "pytest_generate_tests", "store"]
