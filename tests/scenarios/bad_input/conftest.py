"""Fixtures of the tests with invalid requests."""

from typing import Any

import pytest
from signalbox.simulator.http.server import BackgroundSimulator

from tests.support.running_app import RunningApp


@pytest.fixture
def no_run_started(app: RunningApp, simulator: BackgroundSimulator) -> Any:
    """Check after the test that it started no run and sent no upstream request."""
    newest, asked = _newest(app), [id(request) for request in simulator.state.requests]
    yield
    assert (_newest(app), [id(request) for request in simulator.state.requests]) == (newest, asked)


def _newest(app: RunningApp) -> list[Any]:
    return app.client.get("/api/runs?limit=1").json()["runs"]
