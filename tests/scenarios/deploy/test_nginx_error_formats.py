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
