"""Files of conversations over HTTP, on both databases where a module lists them."""

from tests.scenarios.conversations.conftest import start_app
from tests.support.disk import kind, pytest_generate_tests

__all__ = ["kind", "pytest_generate_tests", "start_app"]
