"""Thirty runs at random positions when the server is killed: every one has an honest ending."""

import asyncio
import random
from itertools import pairwise
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest

from tests.scenarios.crash.restarts import STREAM, journal, kill, serve_until_killed
from tests.scenarios.crash.stages import call
from tests.support.processes import WAIT, Process
from tests.support.scripted_upstream import Exchange, ScriptedUpstream, chunk
from tests.support.stream_reader import ParsedStream, check_stream, parse_stream

pytestmark = [pytest.mark.e2e, pytest.mark.anyio]

RUNS, SEED = 30, 20261121


class Provider:
    """Streams numbers, reasons, or first calls a tool; sets an event when `most` pieces have been sent."""

    def __init__(self, chance: random.Random) -> None:
        self.plans = [(chance.choice(["say", "think", "call", "wait"]), chance.randint(1, 150)) for _ in range(RUNS)]
        self.most = chance.randint(300, 900)
        self.said = 0
        self.enough = Event()

    def tools(self, number: int) -> list[str]:
        """Return the tools to offer: none unless they are called, since the legacy loop streams nothing with tools."""
        return ["keep_line"] if self.plans[number][0] == "call" else []

    async def __call__(self, exchange: Exchange) -> None:
        body = exchange.asked.body
        way, length = self.plans[int(body["messages"][0]["content"])]
        has_results = any(message["role"] == "tool" for message in body["messages"])
        if way == "call" and not has_results:
            await call(exchange, "keep_line", body["messages"][0]["content"], "gen-storm")
        elif way == "wait" or not body.get("stream"):
            await exchange.client_left()
        else:
            await self._count(exchange, length, "reasoning" if way == "think" else "content")

    async def _count(self, exchange: Exchange, length: int, field: str) -> None:
        await exchange.head()
        for number in range(length):
            await exchange.send(chunk({field: f"{number} "}))
            await asyncio.sleep(0.002)  # paced, so that the kill finds runs at different positions
            self.said += 1
            if self.said >= self.most:
                self.enough.set()
        if field == "reasoning":
            await exchange.send_text("So it is.")
        await exchange.end()


class Client:
    """Reads one run until its connection breaks."""

    def __init__(self, number: int) -> None:
        self.number, self.run_id, self.seen = number, "", b""

    async def follow(self, client: httpx.AsyncClient, *tools: str) -> None:
        asked = {"model": "openai/sim", "prompt": str(self.number), "tools": [*tools]}
        try:
            async with client.stream("POST", STREAM, json=asked) as response:
                self.run_id = response.headers["x-run-id"]
                async for chunk_ in response.aiter_raw():
                    self.seen += chunk_
        except httpx.TransportError:
            pass
        self.seen = self.seen[: self.seen.rfind(b"\n\n") + 2] if b"\n\n" in self.seen else b""


@pytest.mark.parametrize("loop", ["v2", "legacy"])
async def test_every_run_of_a_storm_ends_honestly(tmp_path: Path, loop: str) -> None:
    """No run is lost or duplicated, no number is missing, and finished runs stay finished."""
    provider = Provider(random.Random(SEED))
    for number in range(0, RUNS, 2):
        (tmp_path / f"open-{number}").touch()
    with ScriptedUpstream(provider) as upstream:
        with serve_until_killed(tmp_path, upstream, loop) as process:
            clients = await killed(process, provider)
        durable = {client.run_id: journal(tmp_path, client.run_id) for client in clients if client.run_id}
        asked = len(upstream.asked)
        with serve_until_killed(tmp_path, upstream, loop) as process, process.client() as http:
            listed = [run["run_id"] for run in http.get("/api/runs").json()["runs"]]
            assert len(listed) == len(set(listed))
            assert set(durable) <= set(listed)
            endings = {check(http, client, durable[client.run_id]) for client in clients if client.run_id}
        assert endings == {("complete", None), ("interrupted", "SERVER_CRASH")}
        assert len(upstream.asked) == asked
    lines = (tmp_path / "lines").read_text().split()
    assert 0 < len(lines) == len(set(lines))
    for client in clients:  # calls with effects are on disk before they start
        if str(client.number) in lines:
            assert "tool_executing" in [event["event"]["type"] for event in durable[client.run_id]]


async def killed(process: Process, provider: Provider) -> list[Client]:
    """Send all questions at once, and kill the server in the middle of the answers."""
    clients = [Client(number) for number in range(RUNS)]
    async with httpx.AsyncClient(base_url=process.url, timeout=WAIT, trust_env=False, verify=False) as http:
        reading = [asyncio.create_task(client.follow(http, *provider.tools(client.number))) for client in clients]
        assert await asyncio.to_thread(provider.enough.wait, WAIT)
        kill(process)
        await asyncio.gather(*reading)
    return clients


def check(http: httpx.Client, client: Client, durable: list[dict[str, Any]]) -> tuple[str, str | None]:
    """Check one run against the disk and against what its client read; return its ending."""
    replay = check_stream(http.get(f"/api/runs/{client.run_id}/events").content)
    assert replay.seqs[: len(durable)] == [event["seq"] for event in durable]
    seen = parse_stream(client.seen)
    cursor = {"Last-Event-ID": seen.ids[-1]} if seen.ids else {}
    rest = parse_stream(http.get(f"/api/runs/{client.run_id}/events", headers=cursor).content)
    assert all(first < second for first, second in pairwise([*seen.seqs, *rest.seqs]))
    for heard, more in ((replay, parse_stream(b"")), (seen, rest)):
        is_from_zero(heard, more)
    ending = replay.done["status"], replay.done.get("code")
    assert (rest if rest.events else seen).done["status"] == ending[0]
    return ending


def is_from_zero(heard: ParsedStream, more: ParsedStream) -> None:
    """Check that the numbers in the text start at 0 without gaps or repetitions."""
    for said in (heard.text + more.text, heard.reasoning + more.reasoning):
        numbers = said.removesuffix("So it is.").split()
        assert numbers == [str(number) for number in range(len(numbers))]
