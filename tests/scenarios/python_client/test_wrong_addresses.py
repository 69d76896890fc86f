"""A base URL that is wrong: no URL, no server, or another server."""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack

import httpx
import pytest
from signalbox_client import (
    AsyncSignalbox,
    Backoff,
    ConnectionLost,
    InvalidBaseUrl,
    NotSignalbox,
    Signalbox,
    SignalboxError,
)

from tests.scenarios.python_client.conftest import open_client, rejecting
from tests.support.running_app import RunningApp

NO_URLS = {
    "127.0.0.1:8000": "must begin with http://",
    "localhost:8000": "must begin with http://",
    "/chat": "must begin with http://",
    "": "must begin with http://",
    "http://": "host is missing",
    "http://[::1": "host is missing",
    "http://a host": "host is missing",
    "http://..": "host is missing",
    "http://127.0.0.1:99999": "port is not a number from 1 to 65535",
    "http://127.0.0.1:0": "port is not a number from 1 to 65535",
    "http://127.0.0.1:port": "port is not a number from 1 to 65535",
    "http://127.0.0.1:8000/?a=1": "no query",
    "http://127.0.0.1:8000/#top": "no query",
}
CALLS: dict[str, Callable[[Signalbox], object]] = {
    "ask": lambda client: client.ask("Hello!", model="openai/sim"),
    "models": lambda client: client.models(),
    "list": lambda client: list(client.runs.list()),
    "trace": lambda client: client.runs.trace("1"),
    "delete": lambda client: client.runs.delete("1"),
    "follow": lambda client: client.runs.follow("1").__enter__().answer(),
    "export": lambda client: client.conversations.export("1"),
}
OTHER_SERVERS = {
    "a login": httpx.Response(302, headers={"location": "https://example.com/login?state=secret"}),
    "a moved server": httpx.Response(308, headers={"location": "https://127.0.0.1/api/models"}),
    "a page": httpx.Response(200, html="<html>Hello!</html>"),
    "a missing page": httpx.Response(404, html="<html>nginx</html>"),
    "a wrong method": httpx.Response(405, html="<html>nginx</html>"),
    "no POST": httpx.Response(501, html="<html>SimpleHTTP</html>"),
    "OpenAI": httpx.Response(404, json={"error": {"code": "not_found", "message": "No."}}),
    "OpenRouter": httpx.Response(404, json={"error": {"code": 404, "message": "No."}}),
    "a list": httpx.Response(200, json=[]),
    "nothing": httpx.Response(204),
}


@pytest.mark.parametrize("url", NO_URLS)
def test_a_base_url_is_checked_at_once(url: str) -> None:
    """Both clients say what is wrong and what a base URL looks like, before any request."""
    for made in (Signalbox, AsyncSignalbox):
        with pytest.raises(InvalidBaseUrl, match=NO_URLS[url]) as invalid:
            made(url)
        assert "looks like http://127.0.0.1:8000" in str(invalid.value)


def test_the_error_shows_no_password() -> None:
    """A URL may hold a password for a proxy."""
    with pytest.raises(InvalidBaseUrl) as invalid:
        Signalbox("http://user:secret@127.0.0.1:99999")
    assert "secret" not in str(invalid.value)
    with pytest.raises(ConnectionLost) as lost:
        Signalbox("http://user:secret@127.0.0.1:9", backoff=Backoff(attempts=1)).models()
    assert "secret" not in str(lost.value)


@pytest.mark.parametrize("server", OTHER_SERVERS)
def test_another_server_is_recognized(
    app: RunningApp, stack: ExitStack, subtests: pytest.Subtests, server: str
) -> None:
    """Whatever is asked, its response is no rejection by Signalbox; the error has the address and what came."""
    answer = OTHER_SERVERS[server]
    for name, call in CALLS.items():
        with subtests.test(name), pytest.raises(SignalboxError) as error:
            call(rejecting(app, stack, answer))
        if (name, server) == ("follow", "nothing"):  # a run without further events
            continue
        assert type(error.value) is NotSignalbox
        assert f"{app.url}/api/" in str(error.value)
        assert f"HTTP {answer.status_code}" in str(error.value)
        assert "secret" not in str(error.value)


def test_an_unknown_list_of_models_is_no_signalbox(app: RunningApp, stack: ExitStack) -> None:
    """Other servers have `/api/models`, too."""
    with pytest.raises(NotSignalbox):
        rejecting(app, stack, httpx.Response(200, json={"data": []})).models()


@pytest.mark.parametrize("status", [401, 403, 413, 500, 502])
def test_a_proxy_may_reject(app: RunningApp, stack: ExitStack, status: int) -> None:
    """A page of a proxy with such a status keeps the class of the status, and the message says who may have sent it."""
    page = httpx.Response(status, html="<html>nginx</html>")
    with pytest.raises(SignalboxError, match=f"A proxy or another server responded with HTTP {status}") as error:
        rejecting(app, stack, page, backoff=Backoff(attempts=1)).models()
    assert not isinstance(error.value, NotSignalbox)


def test_the_address_of_openai_clients_gets_a_hint(app: RunningApp, stack: ExitStack) -> None:
    """OpenAI's clients need /v1 at the end of the base URL; this client must not have it."""
    with pytest.raises(NotSignalbox, match="must not end in /v1"):
        open_client(stack, f"{app.url}/v1").ask("Hello!", model="openai/sim")


def test_a_wrong_path_is_not_a_missing_run(app: RunningApp, stack: ExitStack) -> None:
    """Programs that handle `NotFound` must not take a wrong base URL for a run that was deleted."""
    with pytest.raises(NotSignalbox, match="Check the base URL"):
        open_client(stack, f"{app.url}/chat").runs.trace("1")


def test_a_missing_server_is_reported_within_seconds(stack: ExitStack, slept: list[float]) -> None:
    """The error names the address and the reason, and says what to do."""
    client = open_client(stack, "http://127.0.0.1:9", backoff=Backoff())
    with pytest.raises(ConnectionLost, match=r"http://127\.0\.0\.1:9/api/chat/stream: .*Check that the server"):
        client.ask("Hello!", model="openai/sim")
    with pytest.raises(ConnectionLost):
        client.models()
    assert len(slept) == 8
    assert 7.5 <= sum(slept) <= 15


def test_a_server_that_is_gone_in_mid_answer_is_waited_for(stack: ExitStack, slept: list[float]) -> None:
    """The stream of a run is resumed with more patience, because the server may be restarting."""
    frame = 'data: {"type":"content","content":"First "}\nid: run:1\n\n'
    begun = httpx.Response(200, headers={"x-chat-contract": "1.1", "x-run-id": "run"}, text=frame)
    responses = iter([begun])

    def handle(request: httpx.Request) -> httpx.Response:
        for response in responses:
            return response
        raise httpx.ConnectError("refused", request=request)

    http = stack.enter_context(httpx.Client(transport=httpx.MockTransport(handle)))
    run = Signalbox("http://127.0.0.1:9", http=http).stream("Hello!", model="openai/sim", on_disconnect="continue")
    with run, pytest.raises(ConnectionLost):
        run.answer()
    assert len(slept) == 9


def test_the_patience_can_be_set(slept: list[float]) -> None:
    """`connect_attempts` is not more than `attempts`."""
    for backoff, delays in ((Backoff(connect_attempts=1), 0), (Backoff(attempts=3), 2)):
        slept.clear()
        with pytest.raises(ConnectionLost):
            Signalbox("http://127.0.0.1:9", backoff=backoff).models()
        assert len(slept) == delays


def test_the_asynchronous_client_does_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A closed port is reported after five attempts."""
    slept: list[float] = []

    async def record(delay: float) -> None:
        slept.append(delay)

    monkeypatch.setattr("signalbox_client._async.server.asyncio.sleep", record)

    async def ask() -> None:
        async with AsyncSignalbox("http://127.0.0.1:9") as client:
            await client.models()

    with pytest.raises(ConnectionLost):
        asyncio.run(ask())
    assert len(slept) == 4
