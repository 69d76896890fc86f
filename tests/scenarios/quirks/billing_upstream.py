"""A provider that reports costs later, and settlements that a test releases."""

import asyncio
import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.support.running_app import RunningApp, read_until
from tests.support.scripted_upstream import (
    DONE,
    Exchange,
    Script,
    chunk,
    no_models,
    sends,
)
from tests.support.stream_reader import ParsedStream, check_stream

USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "cost": 0.25}
BILL = {"native_tokens_prompt": 20, "native_tokens_completion": 7, "total_cost": 0.5, "provider_name": "Groq"}
LOOPS = pytest.mark.parametrize("loop", ["v2", "legacy"])


class HeldSettlements:
    """Holds the settlements of an app until the test releases them; after that none waits."""

    def __init__(self, app: RunningApp) -> None:
        self.app = app
        self.gate = asyncio.Event()
        assert app.parts.runs.settlements is not None
        self.settlements = app.parts.runs.settlements
        self.settlements.sleep = self._sleep

    async def _sleep(self, seconds: float) -> None:
        await self.gate.wait()

    def settle(self) -> None:
        """Release them, and wait until all are settled or given up."""
        self.app.call(self.gate.set)
        self.app.within(self.settlements.wait())

    def trace(self, run_id: str) -> dict[str, Any]:
        """Return a run's trace."""
        return self.app.client.get(f"/api/runs/{run_id}").json()


class BillingEndpoint:
    """The /generation of a scripted provider: costs by id, each after some 404s; `asked` are the requested ids."""

    def __init__(self, *, late: int = 0, **bills: dict[str, Any]) -> None:
        self.bills = {name.replace("_", "-"): bill for name, bill in bills.items()}
        self.late, self.asked = late, list[str]()

    async def __call__(self, exchange: Exchange) -> None:
        address = urlsplit(exchange.asked.path)
        if not address.path.endswith("/generation"):
            await no_models(exchange)
            return
        generation_id = parse_qs(address.query)["id"][0]
        self.asked.append(generation_id)
        if self.asked.count(generation_id) <= self.late or generation_id not in self.bills:
            await exchange.whole(404, b'{"error":{"code":404,"message":"Generation not found"}}')
            return
        bill = {"id": generation_id, **self.bills[generation_id]}
        await exchange.whole(200, json.dumps({"data": bill}).encode())


def answers(*texts: str, generation: str, **fields: Any) -> Script:
    """Answer with text and usage."""
    said = [chunk({"content": text}, id=generation, **fields) for text in texts]
    return sends(*said, chunk({}, finish="stop", id=generation, usage=USAGE, **fields) + DONE)


def stopped(app: RunningApp, after: bytes, **body: Any) -> tuple[str, ParsedStream]:
    """Send a question, stop its run once these bytes have arrived, and read to the end."""
    with app.asking(**body) as response:
        run_id = response.headers["x-run-id"]
        chunks = response.iter_raw()
        seen = read_until(chunks, after)
        assert app.client.post(f"/api/runs/{run_id}/stop").json()["stopped"] is True
        return run_id, check_stream(seen + b"".join(chunks))
