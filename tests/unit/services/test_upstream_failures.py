"""UpstreamClient against a failing provider: typed errors without the key."""

import json

import pytest
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.parts import (
    EndOfStream,
    Fault,
    Finish,
    StreamPart,
)
from signalbox.services.http.client import HttpClient
from signalbox.services.upstream import UpstreamClient
from signalbox.wire.dialects import upstream_at

from tests.support.scripted_upstream import DONE, Exchange, ScriptedUpstream, chunk, holds, says, sends, silent
from tests.unit.services.scripted_client import ASK, KEY, Start, read_stream, text_of

pytestmark = pytest.mark.anyio


async def failed(service: UpstreamClient) -> UpstreamError:
    """Read a stream that fails before its first part."""
    with pytest.raises(UpstreamError) as refused:
        await read_stream(service)
    assert KEY not in refused.value.message
    return refused.value


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_is_an_error(start: Start, status: int) -> None:
    """The key is not sent to another host."""

    async def redirects(exchange: Exchange) -> None:
        await exchange.whole(status, b"", location="https://elsewhere.example/")

    service, upstream = start(redirects)
    error = await failed(service)
    assert (error.code, "redirect" in error.message) == (Code.UPSTREAM_PROTOCOL, True)
    assert len(upstream.asked) == 1


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (401, Code.UPSTREAM_AUTH),
        (404, Code.UPSTREAM_NOT_FOUND),
        (502, Code.UPSTREAM_ERROR),
        (504, Code.UPSTREAM_TIMEOUT),
    ],
)
async def test_an_error_page_in_html(start: Start, status: int, code: Code) -> None:
    """A proxy's page is reported by its status, without its markup."""

    async def page(exchange: Exchange) -> None:
        await exchange.whole(status, f"<html><b>{KEY}</b> nginx</html>".encode(), "text/html")

    service, _ = start(page)
    error = await failed(service)
    assert (error.code, error.status) == (code, status)
    assert "<" not in error.message


async def test_a_page_under_status_200(start: Start) -> None:
    """A web page is no stream: none of it becomes text."""
    service, _ = start(sends(b"<html><body>Welcome</body></html>", kind="text/html"))
    try:
        parts = await read_stream(service)
    except UpstreamError as error:
        assert error.code is Code.UPSTREAM_PROTOCOL  # noqa: PT017 - either way of telling it is well
    else:
        assert text_of(parts) == ""
        assert not any(isinstance(part, EndOfStream | Finish) for part in parts)


@pytest.mark.parametrize("cut", [1, 5, 40])
async def test_a_whole_body_in_answer_to_a_stream_request(start: Start, cut: int) -> None:
    """A provider that does not stream is understood, however its body is split (quirk E1)."""
    answer = {"id": "gen-1", "model": "m", "choices": [{"message": {"content": "Whole."}, "finish_reason": "stop"}]}
    body = b"  \n" + json.dumps(answer).encode()
    service, _ = start(sends(body[:cut], body[cut:], kind="application/json"))
    parts = await read_stream(service)
    assert text_of(parts) == "Whole."
    assert isinstance(parts[-1], EndOfStream)


async def test_an_error_body_under_status_200(start: Start) -> None:
    """The error becomes a part with its code and without the key."""
    body = json.dumps({"error": {"code": 429, "message": f"slow down, {KEY}"}}).encode()
    service, _ = start(sends(body, kind="application/json"))
    parts = await read_stream(service)
    faults = [part for part in parts if isinstance(part, Fault)]
    assert [fault.error.code for fault in faults] == [Code.RATE_LIMIT]
    assert KEY not in faults[0].error.message


@pytest.mark.parametrize("key", ["plain-words-key", "0123456789abcdef"])
async def test_no_key_of_any_shape_is_in_a_fault_of_a_stream(key: str) -> None:
    """A key without a known prefix is removed, too (quirk G4)."""
    frame = chunk({}, finish="error", error={"code": 401, "message": f"bad {key}", "metadata": {"provider_name": key}})
    with ScriptedUpstream(sends(frame + DONE)) as upstream:
        async with HttpClient() as client:
            parts = await read_stream(UpstreamClient(client, upstream_at(upstream.base_url, key)))
    faults = [part for part in parts if isinstance(part, Fault)]
    assert len(faults) == 1
    assert key not in faults[0].error.message


@pytest.mark.parametrize("name", ["x-gateway-token", "Cookie", "authorization"])
async def test_credentials_in_headers_are_hidden(name: str) -> None:
    """An operator may send a second credential in a header; other values stay, because they explain an error."""
    headers = {name: "Basic plain-words-secret", "anthropic-beta": "context-2030-01-01"}
    words = "bad plain-words-secret in Basic plain-words-secret; unknown context-2030-01-01"
    frame = chunk({}, finish="error", error={"code": 401, "message": words})
    with ScriptedUpstream(sends(frame + DONE)) as upstream:
        async with HttpClient() as client:
            parts = await read_stream(UpstreamClient(client, upstream_at(upstream.base_url, "a-key"), headers))
    [fault] = [part for part in parts if isinstance(part, Fault)]
    assert "plain-words-secret" not in fault.error.message
    assert "bad … in …; unknown context-2030-01-01" in fault.error.message


async def test_a_cut_stream(start: Start) -> None:
    """A connection that closes in the middle is STREAM_CUT, after the parts that arrived."""

    async def cuts(exchange: Exchange) -> None:
        await exchange.head()
        await exchange.send_text("So far")

    service, _ = start(cuts)
    seen: list[StreamPart] = []

    with pytest.raises(UpstreamError) as refused:
        await service.stream(ASK, seen.extend)
    assert refused.value.code is Code.STREAM_CUT
    assert text_of(seen) == "So far"


async def test_a_socket_that_closes_before_the_head(start: Start) -> None:
    """Without a response it is not a cut answer."""

    async def closes(exchange: Exchange) -> None:
        return

    service, _ = start(closes)
    assert (await failed(service)).code in (Code.UPSTREAM_PROTOCOL, Code.UPSTREAM_UNREACHABLE)


async def test_silence(start: Start) -> None:
    """Silence beyond the idle timeout is a timeout, before and after the headers."""
    for script in (silent, holds):
        service, _ = start(script, idle=0.05)
        with pytest.raises(UpstreamError) as refused:
            await read_stream(service)
        assert refused.value.code is Code.UPSTREAM_STALLED


async def test_a_refused_connection() -> None:
    """The error says what to check."""
    async with HttpClient() as client:
        error = await failed(UpstreamClient(client, upstream_at("http://127.0.0.1:9/v1", KEY)))
    assert (error.code, error.retryable) == (Code.UPSTREAM_UNREACHABLE, True)


@pytest.mark.parametrize("body", [b"[]", b"<html>", b"", b'{"data": 5}', b'{"half":'])
async def test_an_invalid_catalogue(start: Start, body: bytes) -> None:
    """It is an empty list or a protocol error, never another exception."""
    service, _ = start(says(""), models=sends(*([body] if body else []), kind="application/json"))
    try:
        assert await service.models() == []
    except UpstreamError as error:
        assert error.code is Code.UPSTREAM_PROTOCOL  # noqa: PT017 - either way of telling it is well
