"""Conversations over HTTP, with a scripted provider that records its requests.

On both databases where a module lists them.
"""

from typing import Any

import pytest

from tests.support.disk import kind, pytest_generate_tests
from tests.support.fixtures import Behind
from tests.support.postgres import Server

__all__ = ["kind", "pytest_generate_tests"]


@pytest.fixture
def behind(kind: str, behind: Behind, request: pytest.FixtureRequest) -> Behind:
    """Run an app over a scripted provider, on the database of this test."""
    if kind == "sqlite":
        return behind
    server: Server = request.getfixturevalue("postgres")

    def start(*scripts: Any, settings: dict[str, Any] | None = None, **given: Any) -> Any:
        return behind(*scripts, settings={"database_url": server.new_database(), **(settings or {})}, **given)

    return start
