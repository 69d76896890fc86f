"""Conversations over HTTP, with a scripted provider that shows what a model is told; on both databases where asked."""

from typing import Any

import pytest

from tests.support.disk import kind, pytest_generate_tests
from tests.support.fixtures import Behind
from tests.support.postgres import Server

__all__ = ["kind", "pytest_generate_tests"]


@pytest.fixture
def behind(kind: str, behind: Behind, request: pytest.FixtureRequest) -> Behind:
    """Run an app over a scripted provider, on the database that the test is for."""
    if kind == "sqlite":
        return behind
    server: Server = request.getfixturevalue("postgres")

    def start(*scripts: Any, settings: dict[str, Any] | None = None, **given: Any) -> Any:
        return behind(*scripts, settings={"database_url": server.new_database(), **(settings or {})}, **given)

    return start
