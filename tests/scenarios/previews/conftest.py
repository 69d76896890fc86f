"""The app over a scripted provider."""

from tests.scenarios.conversations.conftest import start_app
from tests.support.disk import kind, pytest_generate_tests

__all__ = ["kind", "pytest_generate_tests", "start_app"]
