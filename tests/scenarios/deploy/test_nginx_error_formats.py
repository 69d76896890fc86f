"""nginx's own errors have the format that a client of the path reads, as if the app had sent them."""

import json
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.encoders.chat_completions_error import error_of, openrouter_error_of
from signalbox.encoders.v1_error import error_of as v1_error_of

from tests.support.nginx import nginx
from tests.support.scripted_upstream import Exchange, ScriptedUpstream

FORMATS = {
    "/v1": error_of,
    "/v1/chat/completions": error_of,
    "/v1/models/openai/sim": error_of,
    "/api/v1/chat/completions": openrouter_error_of,
    "/v12": v1_error_of,
    "/api/v1x": v1_error_of,
    "/api/chat": v1_error_of,
}
KEYED = {"idempotency-key": "k-1"}
LIMIT = "limit_req_zone all zone=all:64k rate=1r/m; limit_req zone=all; limit_req_status 429;"


@pytest.mark.parametrize(("path", "format_of"), FORMATS.items())
def test_errors_of_nginx(tmp_path: Path, path: str, format_of: Callable[[RequestError], tuple[int, bytes]]) -> None:
    """No worker, a body that is too large, and a limit: the status and the object are those of the app."""

    def said(code: Code, status: int, field: str | None = None) -> tuple[int, object]:
        return status, json.loads(format_of(RequestError(code, field=field))[1])

    with socket.socket() as dead:
        dead.bind(("127.0.0.1", 0))
        with nginx(tmp_path / "1", dead.getsockname()[1]) as front, front.client() as client:
            answers = [client.post(path, content=b"{}", headers=headers) for headers in ({}, KEYED)]
            large = client.post(path, content=b"x" * 8_400_000)
        with nginx(tmp_path / "2", dead.getsockname()[1], more=LIMIT) as front, front.client() as client:
            _, limited = (client.post(path, content=b"{}") for _ in range(2))
    for answer in answers:
        assert (answer.status_code, answer.json()) == said(Code.SERVER_UNREACHABLE, 502)
    assert (large.status_code, large.json()) == said(Code.BODY_TOO_LARGE, 413, "body")
    assert (limited.status_code, limited.json()) == said(Code.TOO_MANY_QUESTIONS, 429)
    assert limited.headers["content-type"] == "application/json"


def test_a_silent_worker_is_a_504_in_openais_format(tmp_path: Path) -> None:
    """The status is nginx's, the code that of a server that does not answer."""

    async def says_nothing(exchange: Exchange) -> None:
        await exchange.client_left()

    shorter = {"proxy_read_timeout 45s;": "proxy_read_timeout 50ms;"}
    with (
        ScriptedUpstream(says_nothing, models=says_nothing) as worker,
        nginx(tmp_path, worker.port, changes=shorter) as front,
        front.client() as client,
    ):
        answer = client.post("/v1/chat/completions", json={})
        other = client.post("/api/v1/chat/completions", json={})
    assert (answer.status_code, answer.json()["error"]["code"]) == (504, "server_unreachable")
    assert (other.status_code, other.json()["error"]["code"]) == (504, 504)


# What nginx rejects without asking a worker: the request, and the status and code of the answer.
REJECTED: dict[str, tuple[str, int, Code]] = {
    "long address": (f"GET {{}}?q={'x' * 10_000} HTTP/1.1\r\nHost: a\r\n\r\n", 414, Code.INVALID_REQUEST),
    "large header": (f"GET {{}} HTTP/1.1\r\nHost: a\r\nCookie: {'x' * 10_000}\r\n\r\n", 400, Code.INVALID_REQUEST),
    "no host": ("GET {} HTTP/1.1\r\n\r\n", 400, Code.INVALID_REQUEST),
    "two hosts": ("GET {} HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, Code.INVALID_REQUEST),
    "above the root": ("GET {}/../../../../../x HTTP/1.1\r\nHost: a\r\n\r\n", 400, Code.INVALID_REQUEST),
    "no HTTP": ("NO nonsense\r\n\r\n", 400, Code.INVALID_REQUEST),
    "TRACE": ("TRACE {} HTTP/1.1\r\nHost: a\r\n\r\n", 405, Code.METHOD_NOT_ALLOWED),
    "unknown encoding": ("POST {} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 501, Code.INVALID_REQUEST),
    "unknown version": ("GET {} HTTP/3.0\r\nHost: a\r\n\r\n", 505, Code.INVALID_REQUEST),
    "the internal address": ("GET /nginx-error HTTP/1.1\r\nHost: a\r\n\r\n", 404, Code.NOT_FOUND),
}


@pytest.mark.parametrize("name", REJECTED)
def test_requests_that_nginx_rejects(tmp_path: Path, name: str) -> None:
    """Malformed requests get JSON in the format of their path, with an id and without Retry-After."""
    request, status, code = REJECTED[name]
    with nginx(tmp_path, 1) as front:
        for path, format_of in (("/v1/models", error_of), ("/api/v1/models", openrouter_error_of), ("/x", v1_error_of)):
            head, body = _raw(front.port, request.format(path))
            own = v1_error_of if "{}" not in request else format_of
            message = json.loads(body)["error"]["message"] if code is Code.INVALID_REQUEST else ""
            expected = json.loads(own(RequestError(code, message, status=status))[1])
            if own is openrouter_error_of:
                expected["error"] |= {"code": status}
            assert (int(head.split()[1]), json.loads(body)) == (status, expected)
            assert "content-type: application/json" in head
            assert "x-request-id: " in head
            assert "retry-after" not in head
    lines = [json.loads(line) for line in (tmp_path / "access.log").read_text(encoding="utf-8").splitlines()]
    assert {(line["status"], line["method"]) for line in lines} == {(str(status), request.partition(" ")[0].strip())}
    assert not any("nginx-error" in line["path"] or "?" in line["path"] for line in lines if "{}" in request)


def _raw(port: int, request: str) -> tuple[str, bytes]:
    """Send bytes that no HTTP client would send; return the head in lower case, and the body."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(request.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n").encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    return head.decode().lower(), body
