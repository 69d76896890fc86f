"""200 concurrent requests at two worker processes against one budget, also if one of the workers is killed."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.scenarios.access.users import bearer
from tests.support.postgres import Server
from tests.support.processes import Process, serving
from tests.support.scripted_upstream import ScriptedUpstream, holds
from tests.support.workers import within

pytestmark = pytest.mark.e2e
ADMIN = "operator-operator"
REQUESTS, PAID = 200, 40


@contextmanager
def two_workers(folder: Path, url: str, upstream: ScriptedUpstream) -> Iterator[list[Process]]:
    """Serve two processes that share a database."""
    env = {
        "DATABASE_URL": url,
        "OPENROUTER_BASE_URL": upstream.base_url,
        "OPENROUTER_API_KEY": "sk-or-v1-test",
        "SIGNALBOX_ADMIN_TOKEN": ADMIN,
        "SIGNALBOX_LEASE_SECONDS": "1",
        "SIGNALBOX_DRAIN_SECONDS": "0",
    }
    with ExitStack() as stack:
        folders = [folder / name for name in ("one", "two")]
        for one in folders:
            one.mkdir()
        yield [stack.enter_context(serving(one, env=env)) for one in folders]


async def ask_all(urls: list[str], token: str, **body: Any) -> list[int]:
    """Start as many runs at the same time, half of them at each worker; return the statuses."""
    asked = {"model": "openai/sim", "prompt": "Hi", "tools": [], "on_disconnect": "continue", **body}
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(trust_env=False, timeout=60, limits=limits, headers=bearer(token)) as client:

        async def ask(number: int) -> int:
            request = client.build_request("POST", f"{urls[number % 2]}/api/chat/stream", json=asked)
            response = await client.send(request, stream=True)
            await response.aclose()
            return response.status_code

        return await asyncio.gather(*map(ask, range(REQUESTS)))


def test_exactly_what_the_budget_pays_is_started(tmp_path: Path, postgres: Server) -> None:
    """40 of 200 start, which reserve the budget, and nothing is sent for the others.

    Every reservation is released, also after kill -9.
    """
    url = postgres.new_database()
    with ScriptedUpstream(holds) as upstream, two_workers(tmp_path, url, upstream) as workers:
        urls = [worker.url for worker in workers]
        with httpx.Client(base_url=urls[0], trust_env=False, headers=bearer(ADMIN), timeout=30) as operator:
            limits = {"name": "Ada", "budget_day": PAID * 0.25, "budget_month": 1000}
            token = operator.post("/api/tokens", json=limits).json()
            statuses = Counter(asyncio.run(ask_all(urls, token["token"], max_cost=0.25)))
        assert statuses == {200: PAID, 402: REQUESTS - PAID}
        within(30, lambda: sum(b"Hi" in json.dumps(one.body).encode() for one in upstream.asked) == PAID)
        day = "SELECT spent, reserved FROM budgets WHERE period LIKE '____-__-__'"
        assert postgres.sql(day, database=url) == [(0, PAID * 250_000_000)]
        workers[0].process.kill()  # its runs are taken over when their leases have expired
        with httpx.Client(base_url=urls[1], trust_env=False, headers=bearer(token["token"]), timeout=30) as ada:
            for run in ada.get("/api/runs", params={"status": "running", "limit": 200}).json()["runs"]:
                ada.post(f"/api/runs/{run['run_id']}/stop")
            reserved = "SELECT sum(reserved) FROM budgets"
            within(30, lambda: postgres.sql(reserved, database=url) == [(0,)])
            assert postgres.sql("SELECT count(*) FROM reservations", database=url) == [(0,)]
            # Nothing is known of what the killed worker's runs cost, so their whole reservation counts.
            [(spent, _)] = postgres.sql(day, database=url)
            assert spent <= PAID * 250_000_000
            total = ada.get("/api/spend").json()["total"]
            assert (total["runs"], total["cost"]) == (PAID, spent / 1e9)


def test_rates_and_runs_at_once_hold_across_workers(tmp_path: Path, postgres: Server) -> None:
    """Of 200 concurrent requests, a rate of 30 per hour admits 30, and a limit of 20 runs admits 20."""
    url = postgres.new_database()
    with ScriptedUpstream(holds) as upstream, two_workers(tmp_path, url, upstream) as workers:
        urls = [worker.url for worker in workers]
        with httpx.Client(base_url=urls[0], trust_env=False, headers=bearer(ADMIN), timeout=30) as operator:
            for limits, admitted in (({"rate_limit": "30/hour"}, 30), ({"max_runs": 20}, 20)):
                token = operator.post("/api/tokens", json={"name": "Ada", **limits}).json()["token"]
                assert Counter(asyncio.run(ask_all(urls, token))) == {200: admitted, 429: REQUESTS - admitted}
