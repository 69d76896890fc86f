"""A collector, and apps that export their traces to it."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.support.collector import Collector
from tests.support.scripted_upstream import DONE, Exchange, Script, call_chunk, chunk, says

Trace = Callable[..., None]


@pytest.fixture
def collector() -> Iterator[Collector]:
    """Run a collector; it receives traces after `trace_to` only."""
    with Collector() as running:
        yield running


@pytest.fixture
def traced(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> Trace:
    """Let apps that start from now on export to the collector, with these further variables."""

    def to(url: str = collector.url, **variables: str) -> None:
        for name, value in {"OTEL_EXPORTER_OTLP_ENDPOINT": url, "NO_PROXY": "127.0.0.1", **variables}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "20")

    to()
    return to


def calling(*calls: tuple[str, dict[str, Any]]) -> Script:
    """Make a script that calls tools: streamed, or whole if the request asks for that, as the legacy loop does."""
    named = [(f"call_{number}", name, json.dumps(arguments)) for number, (name, arguments) in enumerate(calls, 1)]

    async def script(exchange: Exchange) -> None:
        if exchange.asked.body.get("stream"):
            await exchange.head()
            for index, (call_id, name, arguments) in enumerate(named):
                await exchange.send(call_chunk(name, arguments, index=index, call_id=call_id))
            await exchange.send(chunk({}, finish="tool_calls") + DONE)
            await exchange.raw(b"0\r\n\r\n")
            return
        entries = [
            {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
            for call_id, name, arguments in named
        ]
        await _whole(exchange, {"content": None, "tool_calls": entries}, "tool_calls")

    return script


def saying(text: str) -> Script:
    """Make a script that answers with a text: streamed, or whole."""

    async def script(exchange: Exchange) -> None:
        if exchange.asked.body.get("stream"):
            await says(text)(exchange)
        else:
            await _whole(exchange, {"content": text}, "stop")

    return script


async def _whole(exchange: Exchange, message: dict[str, Any], finish: str) -> None:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    usage = {"prompt_tokens": 9, "completion_tokens": 3}
    whole = {"id": "gen-scripted", "provider": "Scripted", "model": "openai/sim", "choices": [choice], "usage": usage}
    await exchange.whole(200, json.dumps(whole).encode())
