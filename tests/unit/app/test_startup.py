"""Start-up: what is not imported, when garbage is collected, and what is prepared before the first question."""

import asyncio
import gc
import subprocess
import sys
from inspect import unwrap
from pathlib import Path

import pytest
from fastapi import FastAPI, routing
from fastapi.routing import _EffectiveRouteContext as RouteContext
from signalbox.app.config import load_settings
from signalbox.app.main import create_app
from signalbox.app.process.gc_tuning import uncollected
from signalbox.app.process.warm_up import warm_up

# What a server with a key, on SQLite, without a rate limit and without packages' tools has no use for at the start.
NOT_NEEDED = ("signalbox.simulator", "limits", "jsonschema", "alembic", "asyncpg", "sqlalchemy.dialects.postgresql")


def test_a_server_is_imported_without_what_only_some_starts_need() -> None:
    """Modules for other settings, a new database or the first call are not imported before the server is ready."""
    code = "import sys, signalbox.server.serve; print(*sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(NOT_NEEDED) & set(told.stdout.split())


def test_nothing_is_collected_while_a_server_is_imported() -> None:
    """Collection is disabled within the block, enabled after it, and skips objects created within."""
    before = gc.get_freeze_count()
    with uncollected():
        was_enabled = gc.isenabled()
    frozen = gc.get_freeze_count()
    assert not was_enabled
    assert gc.isenabled()
    assert frozen > before


@pytest.mark.anyio
async def test_the_first_question_finds_routes_and_tools_ready(tmp_path: Path, monkeypatch) -> None:
    """Soon after the start all routes are resolved and the tools' validators are built."""
    monkeypatch.setenv("OPENROUTER_API_KEY", "key-of-a-test")
    monkeypatch.setenv("OPENROUTER_BASE_URL", "http://127.0.0.1:9/api/v1")
    monkeypatch.setenv("SIGNALBOX_DATA_DIR", str(tmp_path))
    # Tests start without it, and share what is known of routes.
    monkeypatch.setattr("signalbox.app.main.warm_up", warm_up)
    monkeypatch.setattr(RouteContext, "from_api_route", unwrap(RouteContext.from_api_route))
    app = create_app(load_settings(None))
    async with app.router.lifespan_context(app):
        (warming,) = [task for task in asyncio.all_tasks() if task.get_name() == "warming"]
        await asyncio.wait_for(warming, 60)
        monkeypatch.setattr(routing, "get_dependant", _never)
        _ask_all_routers(app)
        assert "_validators" in vars(app.state.services.executor)


def _ask_all_routers(app: FastAPI) -> None:
    for route in app.routes:
        route.matches({"type": "http", "method": "GET", "path": "/api/nothing", "root_path": "", "headers": []})


def _never(**_: object) -> None:
    raise AssertionError("a signature is read")
