"""Requests that start runs and are refused: each is counted and logged, in every protocol."""

import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from signalbox.app.openapi.examples import REQUESTS
from signalbox.app.protocols import PROTOCOLS, by_path
from structlog.testing import capture_logs

from tests.scenarios.access.users import bearer
from tests.support.metrics import Scrape
from tests.support.running_app import WAIT, RunningApp, settings_for

TOKEN, ADMIN = "the-token-of-prometheus", "operator-operator"
SETTINGS = {"signalbox_metrics_token": TOKEN, "signalbox_admin_token": ADMIN}
VARIANTS = "/api/chat/variants"
# The schema of the body of each endpoint.
BODIES = {
    "/api/chat": "ChatRequest",
    "/api/chat/stream": "ChatRequest",
    VARIANTS: "VariantsRequest",
    "/v1/chat/completions": "ChatCompletionRequest",
    "/api/v1/chat/completions": "ChatCompletionRequest",
    "/api/ai/chat": "AiSdkRequest",
    "/assistant": "AssistantRequest",
    "/assistant/data-stream": "AssistantRequest",
    "/assistant/transport": "AssistantRequest",
    "/agui": "RunAgentInput",
}
# Limits of a token, and how they refuse a run.
LIMITS: Mapping[str, tuple[dict[str, Any], int]] = {
    "BUDGET_EXHAUSTED": ({"budget_day": 0}, 402),
    "MODEL_NOT_ALLOWED": ({"models": ["none/*"]}, 403),
    "TOO_MANY_QUESTIONS": ({"rate_limit": "1/day"}, 429),
}


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningApp, dict[str, str]]]:
    """Serve an app whose tokens may start no run; return each token by the code of its limit."""
    with RunningApp(settings_for(tmp_path_factory.mktemp("data"), **SETTINGS)) as app:
        tokens: dict[str, str] = {}
        for code, (limits, _) in LIMITS.items():
            made = app.client.post("/api/tokens", json={"name": code, **limits}, headers=bearer(ADMIN))
            tokens[code] = made.json()["token"]
        first = {"model": "openai/sim", "prompt": "Hi", "tools": []}
        asked = app.client.post("/api/chat", json=first, headers=bearer(tokens["TOO_MANY_QUESTIONS"]))
        assert asked.status_code == 200
        yield app, tokens


def counted(app: RunningApp, **labels: Any) -> float:
    """Return how many refusals with these labels are counted."""
    text = app.client.get("/metrics", headers=bearer(TOKEN)).raise_for_status().text
    return Scrape(text).total("refused_requests_total", **labels)


def body_of(path: str) -> dict[str, Any]:
    """Return a valid request."""
    return dict(next(iter(REQUESTS[BODIES[path]].values())))


def refusals(lines: Any) -> list[tuple[int, str, str]]:
    """Return status, code and path of the lines about refused requests."""
    return [
        (line["status"], line["code"], line["path"])
        for line in lines
        if line["event"] in ("request.rejected", "requests.rejected")
    ]


def test_every_endpoint_that_starts_runs_is_here() -> None:
    """A new protocol needs a body."""
    assert {*BODIES} == {*by_path(PROTOCOLS), VARIANTS}


@pytest.mark.parametrize("code", LIMITS)
@pytest.mark.parametrize("path", BODIES)
def test_a_refused_run_is_counted_and_logged(limited: tuple[RunningApp, dict[str, str]], path: str, code: str) -> None:
    """Once per run that was asked for."""
    app, tokens = limited
    status = LIMITS[code][1]
    body = body_of(path)
    runs = len(body.get("variants", [{}]))
    before = counted(app, status=status, code=code)
    with capture_logs() as lines:
        response = app.client.post(path, json=body, headers=bearer(tokens[code]))
    assert response.status_code == status, response.text
    assert counted(app, status=status, code=code) - before == runs
    assert refusals(lines)[:runs] == [(status, code, path)] * runs


@pytest.mark.parametrize("path", BODIES)
def test_an_invalid_request_is_counted_and_logged(limited: tuple[RunningApp, dict[str, str]], path: str) -> None:
    """Once, because no run was asked for."""
    app, _ = limited
    status = 400 if path.endswith("/completions") else 422
    before = counted(app, status=status)
    with capture_logs() as lines:
        response = app.client.post(path, json={}, headers=bearer(ADMIN))
    assert response.status_code == status, response.text
    assert counted(app, status=status) - before == 1
    assert [(given, where) for given, _, where in refusals(lines)] == [(status, path)]


def test_malformed_http_is_counted(limited: tuple[RunningApp, dict[str, str]]) -> None:
    """It has no code, because no endpoint answers it."""
    app, _ = limited
    before = counted(app, status=400, code="none")
    with socket.create_connection(("127.0.0.1", app.port), timeout=WAIT) as connection:
        connection.sendall(b"NOT HTTP\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 400 ")
    assert counted(app, status=400, code="none") - before == 1


def test_variants_that_are_refused_beside_others_are_counted(tmp_path: Path) -> None:
    """The response has the status 200; each refused variant counts like a request."""
    with RunningApp(settings_for(tmp_path, **SETTINGS)) as app:
        made = app.client.post("/api/tokens", json={"name": "Ada", "models": ["openai/*"]}, headers=bearer(ADMIN))
        body = {**body_of(VARIANTS), "variants": [{}, {"model": "anthropic/sim"}, {"model": "google/sim"}]}
        with capture_logs() as lines:
            response = app.client.post(VARIANTS, json=body, headers=bearer(made.json()["token"]))
        assert response.status_code == 200, response.text
        assert refusals(lines) == [(403, "MODEL_NOT_ALLOWED", VARIANTS)] * 2
        assert counted(app, status=403, code="MODEL_NOT_ALLOWED") == 2
