"""Rejected requests in the log: what each line holds, and the limit of lines per minute."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from signalbox.app.asgi.request_id import register_request
from signalbox.app.logs.rejected_requests import MOST_LINES, SECONDS, RejectionLog
from structlog.testing import capture_logs

from tests.scenarios.access.users import ADMIN, bearer, create_token
from tests.support.running_app import RunningApp, settings_for

LINE = {"event", "log_level", "request_id", "status", "code", "count", "method", "path", "owner", "client"}


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[RunningApp]:
    """Run an app that requires a token and allows one question per hour."""
    settings = settings_for(
        tmp_path, signalbox_require_token=True, signalbox_admin_token=ADMIN, signalbox_rate_limit="1/hour"
    )
    with RunningApp(settings) as app:
        yield app


def refused(app: RunningApp, ask: Callable[[httpx.Client], httpx.Response]) -> dict[str, Any]:
    """Send a request that is rejected, and return its log line."""
    with capture_logs() as lines:
        answer = ask(app.client)
    [line] = [line for line in lines if line["event"] == "request.rejected"]
    assert set(line) == LINE
    assert (line["request_id"], line["status"]) == (answer.headers["x-request-id"], answer.status_code)
    assert line["client"] == "127.0.0.1"
    return dict(line)


def test_each_kind_of_refusal_has_its_line(guarded: RunningApp) -> None:
    """A line has status, code, method, path without query, and the owner if known; never a body or a key."""
    token, text = create_token(guarded, "Ada")
    mine = bearer(text)
    body = {"model": "openai/sim", "prompt": "canary", "tools": []}
    chat = "/api/chat/stream"

    line = refused(guarded, lambda client: client.get("/api/runs?canary=1", headers=bearer("canary")))
    assert (line["status"], line["code"], line["path"], line["owner"]) == (401, "UNAUTHORIZED", "/api/runs", None)
    assert line["log_level"] == "warning"
    seen = [line]
    line = refused(guarded, lambda client: client.get("/api/runs", headers={**mine, "host": "evil.example"}))
    assert (line["status"], line["code"]) == (403, "HOST_NOT_ALLOWED")
    line = refused(guarded, lambda client: client.post(chat, json={**body, "canary": 1}, headers=mine))
    assert (line["status"], line["code"], line["owner"]) == (422, "UNKNOWN_FIELD", token.id)
    assert (line["method"], line["log_level"]) == ("POST", "info")
    seen.append(line)
    line = refused(guarded, lambda client: client.post(chat, content=b"x" * 9_000_000, headers=mine))
    assert (line["status"], line["code"]) == (413, "BODY_TOO_LARGE")
    assert guarded.client.post(chat, json=body, headers=mine).status_code == 200
    line = refused(guarded, lambda client: client.post(chat, json=body, headers=mine))
    assert (line["status"], line["code"], line["owner"]) == (429, "TOO_MANY_QUESTIONS", token.id)
    guarded.parts.runs.is_closing = True
    line = refused(guarded, lambda client: client.post(chat, json=body, headers=bearer(ADMIN)))
    assert (line["status"], line["code"], line["owner"]) == (503, "SHUTTING_DOWN", "operator")
    seen.append(line)
    line = refused(guarded, lambda client: client.get("/api/runs/none", headers=mine))
    assert (line["status"], line["code"], line["log_level"]) == (404, "UNKNOWN_RUN", "info")
    assert "canary" not in str(seen)


class Clock:
    """A clock that the test advances, with scheduled calls."""

    def __init__(self) -> None:
        self.now = 100.0
        self.calls: list[tuple[float, Callable[[], None]]] = []

    def later(self, seconds: float, call: Callable[[], None]) -> None:
        self.calls.append((self.now + seconds, call))

    def move(self, seconds: float) -> None:
        self.now += seconds
        due = [call for at, call in self.calls if at <= self.now]
        self.calls = [(at, call) for at, call in self.calls if at > self.now]
        for call in due:
            call()


def reject(rejections: RejectionLog, status: int = 401, code: str = "UNAUTHORIZED") -> None:
    """Reject one request."""
    scope: dict[str, Any] = {"type": "http", "method": "GET", "path": "/api/runs", "headers": [], "client": ("::1", 5)}
    register_request(scope)
    rejections.add(scope, status, code)


def test_a_flood_is_counted_instead_of_written(app: RunningApp) -> None:
    """Ten thousand rejections of a kind are twenty lines and their number; another kind keeps its own lines."""
    clock = Clock()
    rejections = RejectionLog(lambda: clock.now, clock.later)
    with capture_logs() as lines:
        for _ in range(10_000):
            reject(rejections)
        reject(rejections, 503, "SHUTTING_DOWN")
        assert [line["status"] for line in lines] == [401] * MOST_LINES + [503]
        clock.move(SECONDS - 1)
        assert len(lines) == MOST_LINES + 1
        clock.move(1)
    told = lines[-1]
    assert (told["event"], told["status"], told["code"]) == ("requests.rejected", 401, "UNAUTHORIZED")
    assert (told["more"], told["seconds"]) == (10_000 - MOST_LINES, SECONDS)


def test_after_its_minute_a_kind_has_lines_again() -> None:
    """The count of a minute is logged once, before the lines of the next; every rejection is in one of them."""
    clock = Clock()
    rejections = RejectionLog(lambda: clock.now, clock.later)
    with capture_logs() as lines:
        for _ in range(MOST_LINES + 3):
            reject(rejections)
        clock.now += SECONDS  # the timer is late
        reject(rejections)
        clock.move(0)
    assert [line["event"] for line in lines[MOST_LINES:]] == ["requests.rejected", "request.rejected"]
    assert lines[MOST_LINES]["more"] == 3


def test_what_was_counted_is_said_at_the_end(app: RunningApp) -> None:
    """A server that stops during a flood logs the count."""
    clock = Clock()
    rejections = RejectionLog(lambda: clock.now, clock.later)
    with capture_logs() as lines:
        for _ in range(MOST_LINES + 5):
            reject(rejections)
        rejections.flush()
        rejections.flush()
    assert [line["more"] for line in lines if line["event"] == "requests.rejected"] == [5]


def test_a_long_path_is_cut(app: RunningApp) -> None:
    """A long path is truncated in the log."""
    line = refused(app, lambda client: client.get(f"/{'x' * 5000}"))
    assert len(line["path"]) == 200
