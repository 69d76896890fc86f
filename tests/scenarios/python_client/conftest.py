"""Both clients of `clients/python` behind one asynchronous interface, and an app that can be restarted."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest
from signalbox_client import Answer, AsyncSignalbox, Backoff, Event, Signalbox

from tests.scenarios.resume.conftest import stage
from tests.support.running_app import WAIT, RunningApp

__all__ = ["stage"]
FAST = Backoff(first=0.01, longest=0.1, connect_attempts=10)
KINDS = ("sync", "async")


def open_client(stack: ExitStack, url: str, token: str | None = None, backoff: Backoff = FAST) -> Signalbox:
    """Return a synchronous client without proxies; the stack closes it."""
    http = stack.enter_context(httpx.Client(timeout=WAIT, trust_env=False, verify=False))
    return Signalbox(url, token, backoff=backoff, http=http)


def read_run(
    kind: str, url: str, see: Callable[[Event], object] = lambda event: None, **question: Any
) -> tuple[list[Event], Answer]:
    """Ask with one of the clients, show each event to `see`, and read to the end; return the events and the answer."""
    asked: Any = {"model": "openai/sim", **question}
    events: list[Event] = []

    async def run_async() -> Answer:
        async with (
            httpx.AsyncClient(timeout=WAIT, trust_env=False, verify=False) as http,
            AsyncSignalbox(url, backoff=FAST, http=http).stream(**asked) as run,
        ):
            async for event in run:
                events.append(event)
                see(event)
            return await run.answer()

    if kind == "async":
        return events, asyncio.run(run_async())
    with ExitStack() as stack, open_client(stack, url).stream(**asked) as run:
        for event in run:
            events.append(event)
            see(event)
        return events, run.answer()


def rejecting(app: RunningApp, stack: ExitStack, *rejections: httpx.Response, backoff: Backoff = FAST) -> Signalbox:
    """Return a client whose first requests get these responses instead of the app's."""
    left: Iterator[httpx.Response] = iter(rejections)
    real = stack.enter_context(httpx.HTTPTransport())

    def handle(request: httpx.Request) -> httpx.Response:
        rejected = next(left, None)
        return real.handle_request(request) if rejected is None else rejected

    http = stack.enter_context(httpx.Client(transport=httpx.MockTransport(handle)))
    return Signalbox(app.url, backoff=backoff, http=http)


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Record delays instead of waiting."""
    delays: list[float] = []
    for module in ("run", "server"):
        monkeypatch.setattr(f"signalbox_client._sync.{module}.time.sleep", delays.append)
    return delays


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """Close what a test has opened."""
    with ExitStack() as opened:
        yield opened
