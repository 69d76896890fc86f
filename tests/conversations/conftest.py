"""Conversations over HTTP, with a scripted provider that shows what a model is told; on both databases where asked."""

from typing import Any

import pytest

from tests.store.disk import kind, pytest_generate_tests
from tests.support.fixtures import Behind, no_waiting
from tests.support.fixtures import behind as on_file
from tests.support.postgres import Server

__all__ = ["behind", "kind", "no_waiting", "on_file", "pytest_generate_tests"]


@pytest.fixture
def behind(kind: str, on_file: Behind, request: pytest.FixtureRequest) -> Behind:
    """Run an app over a scripted provider, on the database that the test is for."""
    if kind == "sqlite":
        return on_file
    server: Server = request.getfixturevalue("postgres")

    def start(*scripts: Any, settings: dict[str, Any] | None = None, **given: Any) -> Any:
        return on_file(*scripts, settings={"database_url": server.new_database(), **(settings or {})}, **given)

    return start
