"""The app over HTTP, and the parts of it that keep runs, on a disk that tests can hold."""

from tests.store.disk import disk, store
from tests.support.fixtures import app, behind, no_waiting, simulator

__all__ = ["app", "behind", "disk", "no_waiting", "simulator", "store"]
