"""Fixtures and hooks for all tests: the asyncio backend, recorded provider streams, a PostgreSQL server."""

import gc
import os
from collections.abc import Iterable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import pytest
from hypothesis import settings
from jsonschema import Draft202012Validator
from signalbox.encoders import check
from signalbox.services.search.docs import DocsSearch

from tests.order import longest_first
from tests.support.fixtures import app, no_waiting, simulator, start_app
from tests.support.lean_starts import functions_with_cache

if TYPE_CHECKING:
    from tests.support.postgres import Server

# The app over HTTP, one per file; the simulator, one per process.
__all__ = ["app", "no_waiting", "simulator", "start_app"]
ROOT = Path(__file__).resolve().parent.parent

# The same examples in every run, and no stopwatch: a busy machine is no failure.
settings.register_profile("signalbox", derandomize=True, deadline=None, database=None)
settings.load_profile("signalbox")

# Collected tests live to the end: the garbage collector need not visit them, neither now nor in the tests.
gc.disable()


def pytest_collection_finish() -> None:
    """Exclude modules and collected tests from garbage collection, and start it."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the slowest files first; `--no-loadscope-reorder` keeps xdist from sorting by number of tests."""
    items[:] = longest_first(items, "tests")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run async tests on asyncio only, which the app uses in production."""
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def no_plugins() -> Iterator[None]:
    """Hide the entry points of installed packages, so that only the built-in tools exist."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("signalbox.tools.plugins.entry_points_of", lambda group: iter(()))
        yield


@pytest.fixture(scope="session", autouse=True)
def lean_starts() -> Iterator[None]:
    """Start apps in this process without warm-up, migrations and parsing, which take most of the CPU time of a start.

    The first request that needs them creates the routes and the index of the documents. Objects of an app stay subject
    to garbage collection, like those of tests.
    """

    async def close_later(search: DocsSearch, stack: AsyncExitStack) -> None:
        stack.callback(search.close)

    async def do_nothing(*_: object) -> None: ...

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("signalbox.app.tool_setup._prepare", close_later)
        patch.setattr("signalbox.app.main.warm_up", do_nothing)
        patch.setattr("signalbox.app.main.freeze", lambda: None)
        for owner, name, function in functions_with_cache():
            patch.setattr(owner, name, function)
        yield


@pytest.fixture(scope="session", autouse=True)
def fast_checks() -> Iterator[None]:
    """Validate events of the contract in Rust, and those with a fault again in Python, for the sentence that names it.

    Tests check every event of every stream. In Python, that takes a third of their CPU time.
    """

    class Validator:
        def __init__(self, schema: Any, python: Draft202012Validator) -> None:
            self._is_valid = jsonschema_rs.Draft202012Validator(schema).is_valid
            self._python = python

        def iter_errors(self, value: Any) -> Iterable[Any]:
            return () if self._is_valid(value) else self._python.iter_errors(value)

    made = {kind: Validator(python.schema, python) for kind, python in check._validators().items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(check, "_validators", lambda: made)
        yield


@pytest.fixture(scope="session")
def postgres() -> "Iterator[Server]":
    """Run one PostgreSQL server for all tests of this process; skip or fail if none is installed."""
    from tests.support.postgres import running  # no test that needs none pays for it

    yield from running()


@pytest.fixture
def postgres_url(postgres: "Server") -> str:
    """Return the URL of a new database with the current tables."""
    return postgres.new_database()


@pytest.fixture(scope="session")
def recordings() -> Path:
    """Return the folder of recorded streams; if it is missing, skip, or fail in CI."""
    folder = recordings_folder()
    if folder.is_dir():
        return folder
    sentence = f"no recordings at {folder}: set SIGNALBOX_RECORDINGS"
    if os.environ.get("CI") == "true":
        pytest.fail(sentence)
    pytest.skip(sentence)


def recordings_folder() -> Path:
    """Return SIGNALBOX_RECORDINGS, or the default folder beside the repository."""
    return Path(os.environ.get("SIGNALBOX_RECORDINGS") or ROOT / "../shared/recordings").resolve()
