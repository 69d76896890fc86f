"""The limit of runs per user counts over all workers: two apps on one PostgreSQL, with API tokens."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.scenarios.access.users import bearer, create_token
from tests.support.running_app import RunningApp, settings_for
from tests.support.scripted_upstream import ScriptedUpstream, holds

Two = tuple[RunningApp, RunningApp]


@pytest.fixture
def two(tmp_path: Path, postgres_url: str) -> Iterator[Two]:
    """Run two workers that share a database and allow three runs per user."""
    with ExitStack() as stack:
        upstream = stack.enter_context(ScriptedUpstream(holds))

        def worker(name: str) -> RunningApp:
            settings: dict[str, Any] = {
                "database_url": postgres_url,
                "openrouter_base_url": upstream.base_url,
                "signalbox_max_runs_per_user": 3,
                "signalbox_admin_token": "the-operators-token",
            }
            return stack.enter_context(RunningApp(settings_for(tmp_path / name, **settings)))

        yield worker("one"), worker("two")


def start(app: RunningApp, user: dict[str, str]) -> httpx.Response:
    """Start a run that continues without its client, and do not read it."""
    asked = {"model": "openai/sim", "prompt": "Hi", "tools": [], "on_disconnect": "continue"}
    with (
        httpx.Client(base_url=app.url, trust_env=False, timeout=20, verify=False) as alone,
        alone.stream("POST", "/api/chat/stream", json=asked, headers=user) as response,
    ):
        if response.status_code != 200:
            response.read()
        return response


def test_a_burst_over_two_workers(two: Two) -> None:
    """Of twelve requests, six per worker, three start a run; each end frees a slot at both workers."""
    anna, bert = (bearer(create_token(two[0], name)[1]) for name in ("anna", "bert"))
    with ThreadPoolExecutor(12) as many:
        answers = list(many.map(lambda number: start(two[number % 2], anna), range(12)))
    assert sorted(answer.status_code for answer in answers) == [200] * 3 + [429] * 9
    assert {start(app, bert).status_code for app in two} == {200}
    begun = [answer.headers["x-run-id"] for answer in answers if answer.status_code == 200]
    assert two[1].client.post(f"/api/runs/{begun[0]}/stop", headers=anna).json()["status"] == "cancelled"
    assert start(two[0], anna).status_code == 200
    assert start(two[1], anna).status_code == 429
