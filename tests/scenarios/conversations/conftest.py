"""Conversations over HTTP, with a scripted provider that records its requests.

On both databases where a module lists them.
"""

from typing import Any

import pytest

from tests.support.disk import kind, pytest_generate_tests
from tests.support.fixtures import StartApp
from tests.support.postgres import Server

__all__ = ["kind", "pytest_generate_tests"]


@pytest.fixture
def start_app(kind: str, start_app: StartApp, request: pytest.FixtureRequest) -> StartApp:
    """Run an app over a scripted provider, on the database of this test."""
    if kind == "sqlite":
        return start_app
    server: Server = request.getfixturevalue("postgres")

    def start(*scripts: Any, settings: dict[str, Any] | None = None, **given: Any) -> Any:
        return start_app(*scripts, settings={"database_url": server.new_database(), **(settings or {})}, **given)

    return start
