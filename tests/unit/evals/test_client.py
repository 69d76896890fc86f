"""The client of a set: what it makes of each response, and that cancelling closes the connection."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest
from signalbox.evals.client import EvalClient, FileEntry, Refusal, ServerUnusable

from tests.support.scripted_upstream import Exchange, Script, ScriptedUpstream, silent

T = TypeVar("T")
ANSWER = {"v": "1.1", "run_id": "a1", "status": "complete", "text": "Hi.", "reasoning": ""}
ANSWER |= {"calls": [], "sources": [], "images": [], "warnings": [], "new_field": {"of": "a newer server"}}


def replies(status: int, body: object, **headers: str) -> Script:
    """Answer every request with a status and a body."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()

    async def script(exchange: Exchange) -> None:
        await exchange.whole(status, data, **headers)

    return script


def asked(script: Script, work: Callable[[EvalClient], Awaitable[T]]) -> tuple[T, ScriptedUpstream]:
    """Let a client work with a server that plays this script."""
    with ScriptedUpstream(silent, models=script) as server:

        async def whole() -> T:
            client = EvalClient(f"http://127.0.0.1:{server.port}/", "secret-token", 1)
            try:
                return await work(client)
            finally:
                await client.aclose()

        return asyncio.run(whole()), server


def test_a_question_and_its_answer() -> None:
    """Token and loop are headers; unknown fields of a newer server are ignored."""
    answer, server = asked(replies(200, ANSWER), lambda client: client.ask({"model": "a/b"}, "legacy"))
    (request,) = server.catalogues
    assert not isinstance(answer, Refusal)
    assert (answer.run_id, answer.text) == ("a1", "Hi.")
    assert (request.method, request.path, request.body) == ("POST", "/api/chat", {"model": "a/b"})
    assert request.headers["x-tool-loop"] == "legacy"
    assert request.headers["authorization"] == "Bearer secret-token"


def error(code: str, message: str) -> dict[str, Any]:
    """Make the body of an error."""
    return {"error": {"code": code, "message": message}}


@pytest.mark.parametrize(
    ("script", "refusal"),
    [
        (replies(422, error("INVALID_REQUEST", "Wrong.")), Refusal("Wrong.", "INVALID_REQUEST")),
        (
            replies(429, error("TOO_MANY_RUNS", "Wait."), retry_after="7"),
            Refusal("Wait.", "TOO_MANY_RUNS", retryable=True, retry_after=7.0),
        ),
        (replies(502, b"<html>"), Refusal("HTTP 502 without a message of Signalbox.", retryable=True)),
    ],
)
def test_a_refusal(script: Script, refusal: Refusal) -> None:
    """The message is the server's, and the status says whether a retry may help."""
    assert asked(script, lambda client: client.ask({}, None))[0] == refusal


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"v": "1.1"}'])
def test_an_answer_of_another_server(body: bytes) -> None:
    """It is an error of the attempt, not a traceback."""
    refusal, _ = asked(replies(200, body), lambda client: client.ask({}, None))
    assert isinstance(refusal, Refusal)
    assert refusal.message.startswith("The server sent an unknown answer: ")


def test_a_connection_that_breaks() -> None:
    """A retry may help."""

    async def breaks(exchange: Exchange) -> None:
        await exchange.raw(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{")

    refusal, _ = asked(breaks, lambda client: client.ask({}, None))
    assert refusal == Refusal("The connection failed (ProtocolError).", retryable=True)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, "rejects the token: No. Name its file with --token-file."),
        (403, r"rejects requests \(HTTP 403\): No. Check"),
    ],
)
def test_a_server_that_rejects_everything(status: int, words: str) -> None:
    """The sentence says what to do, and no trial continues."""
    script = replies(status, error("UNAUTHORIZED", "No."))
    for work in (lambda client: client.check(), lambda client: client.ask({}, None)):
        with pytest.raises(ServerUnusable, match=words):
            asked(script, work)


def test_a_server_that_is_not_signalbox() -> None:
    """It is noticed before the first question."""
    with pytest.raises(ServerUnusable, match=r"rejects requests \(HTTP 404\)"):
        asked(replies(404, b"Not found"), lambda client: client.check())


def test_files_of_a_conversation() -> None:
    """At the end of the run; ids and paths cannot add to the URL."""
    listed = {"node_id": "r/1", "files": [{"path": "a b.html", "size": 3, "version": 2, "author": "model"}]}
    files, server = asked(replies(200, listed), lambda client: client.files("c/1", "r/1"))
    assert files == [FileEntry("a b.html", 3, 2)]
    assert server.catalogues[0].path == "/api/conversations/c%2F1/files?node_id=r%2F1"
    content, server = asked(replies(200, b"<h1>"), lambda client: client.file("c1", "r1", "sub/a?b.html"))
    assert content == b"<h1>"
    assert server.catalogues[0].path == "/api/conversations/c1/files/sub/a%3Fb.html?node_id=r1"


def test_files_of_a_server_without_them() -> None:
    """An older server has no such endpoint."""
    refusal, _ = asked(replies(404, error("NOT_FOUND", "No such path.")), lambda client: client.files("c1", "r1"))
    assert refusal == Refusal("No such path.", "NOT_FOUND")
    broken, _ = asked(replies(200, b"[]"), lambda client: client.files("c1", "r1"))
    assert isinstance(broken, Refusal)


def test_cancelling_closes_the_connection() -> None:
    """The server then stops the run."""
    with ScriptedUpstream(silent, models=silent) as server:

        async def cancelled() -> None:
            client = EvalClient(f"http://127.0.0.1:{server.port}", None, 1)
            asking = asyncio.create_task(client.ask({}, None))
            await asyncio.to_thread(server.wait_until, lambda: len(server.catalogues) == 1)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            assert await asyncio.to_thread(server.wait_until, lambda: len(server.left) == 1)
            await client.aclose()

        asyncio.run(cancelled())


@pytest.mark.parametrize("url", ["127.0.0.1:8000", "ftp://host", "http://", "http://a:99999"])
def test_a_url_that_is_none(url: str) -> None:
    """The sentence says what a URL begins with."""
    with pytest.raises(ServerUnusable, match="is not a URL that begins with http:// or https://"):
        EvalClient(url, None, 1)
