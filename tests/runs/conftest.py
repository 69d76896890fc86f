"""The app over HTTP, and the parts of it that keep runs, on a disk that tests can hold."""

from tests.store.disk import disk, kind, pytest_generate_tests, store
from tests.support.fixtures import app, behind, no_waiting, simulator

__all__ = ["app", "behind", "disk", "kind", "no_waiting", "pytest_generate_tests", "simulator", "store"]
