"""The protocol of docs/adding-a-protocol.md works end to end over HTTP."""

import json
import socket
import sys
from typing import Any

import httpx
import pytest
from signalbox.app.protocols import PROTOCOLS, ClientProtocol
from signalbox.core.messages import JsonObject

from tests.project.docs.pages import page
from tests.project.docs.snippets import block, module
from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp
from tests.support.scripted_upstream import Script, holds, says, sends

GUIDE = page("adding-a-protocol.md")
TEXTS = ("Forty-", "two", ".")


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> ClientProtocol[Any]:
    """Add the page's two files, and return the page's row."""
    intake = module("signalbox.intakes.lines", block(GUIDE, "A request of the Lines protocol"))
    encoders = module("signalbox.encoders.lines", block(GUIDE, "The Lines protocol: events"))
    for one in (intake, encoders):
        monkeypatch.setitem(sys.modules, one.__name__, one)
    [row] = [code for code in GUIDE.blocks("python") if code.startswith("LINES = ")]
    names: dict[str, Any] = {"ClientProtocol": ClientProtocol, "lines_intake": intake, "lines": encoders}
    exec(compile(row, "row", "exec"), names)
    return names["LINES"]


class Client:
    """A client of Lines."""

    def __init__(self, app: RunningApp) -> None:
        self.app = app

    def ask(self, *, headers: dict[str, str] | None = None, **body: Any) -> httpx.Response:
        asked = {"model": "openai/sim", "input": "What is six by seven?", "tools": [], **body}
        return self.app.client.post("/lines", json=asked, headers=headers)

    def stream(self, **body: Any) -> httpx.Response:
        response = self.ask(stream=True, **body)
        assert response.status_code == 200, response.text
        return response


@pytest.fixture
def serving(start_app: StartApp, lines: ClientProtocol[Any]) -> Any:
    """Serve Lines beside the built-in protocols, over a scripted upstream."""

    def serve(*scripts: Script, **settings: Any) -> Client:
        app, _ = start_app(*scripts, protocols=(*PROTOCOLS, lines), **settings)
        return Client(app)

    return serve


def in_lines(response: httpx.Response) -> list[JsonObject]:
    """Return the lines of a stream."""
    return [json.loads(line) for line in response.content.splitlines()]


def test_an_answer_is_streamed(serving: Any) -> None:
    """The response has one content type, the page's headers, numbered lines of text, and an end."""
    response = serving(says(*TEXTS)).stream()
    assert response.headers.get_list("content-type") == ["application/x-ndjson"]
    assert response.headers.get_list("cache-control") == ["no-store"]
    assert response.headers["x-tool-loop"] == "v2"
    lines = in_lines(response)
    assert "".join(str(line.get("text", "")) for line in lines) == "Forty-two."
    assert lines[-1] == {"line": len(lines), "seq": lines[-1]["seq"], "end": "complete"}
    assert [line["line"] for line in lines] == list(range(1, len(lines) + 1))


def test_an_answer_is_whole(serving: Any) -> None:
    """Without `stream`, the same answer is one JSON object."""
    response = serving(says(*TEXTS)).ask()
    assert (response.status_code, response.json()) == (200, {"text": "Forty-two.", "end": "complete"})
    assert response.headers["content-type"] == "application/json"
    assert len(response.headers["x-run-id"]) == 32


@pytest.mark.parametrize("is_streamed", [True, False])
def test_a_run_that_fails_says_so(serving: Any, is_streamed: bool) -> None:
    """A stream ends with the run's status; a complete answer has the status of the failure."""
    client = serving(sends(b'{"error":{"message":"No.","code":400}}', status=400, kind="application/json"))
    response = client.ask(stream=is_streamed)
    if is_streamed:
        assert (response.status_code, in_lines(response)[-1]["end"]) == (200, "error")
    else:
        assert (response.status_code, set(response.json())) == (502, {"problem", "at"})


def test_a_stream_resumes_behind_every_event(serving: Any) -> None:
    """Each resumed stream is byte for byte the rest of the first one, with the same line numbers."""
    client = serving(says(*TEXTS))
    first = client.stream()
    run_id, seqs = first.headers["x-run-id"], [line["seq"] for line in in_lines(first)]
    whole = first.content.splitlines(keepends=True)
    for read, seq in enumerate(seqs[:-1], 1):
        rest = client.ask(headers={"last-event-id": f"{run_id}:{seq}"})
        assert (rest.status_code, rest.content) == (200, b"".join(whole[read:]))
    nothing = client.ask(headers={"last-event-id": f"{run_id}:{seqs[-1]}"})
    assert (nothing.status_code, nothing.headers["cache-control"]) == (204, "no-store")


def test_a_request_can_be_repeated(serving: Any) -> None:
    """The same Idempotency-Key and body return the first run, streamed or not."""
    client = serving(says(*TEXTS))
    key = {"idempotency-key": "k"}
    first, again = client.ask(headers=key), client.ask(headers=key)
    assert (again.content, again.headers["x-run-id"]) == (first.content, first.headers["x-run-id"])
    other = client.ask(headers=key, input="Another?")
    assert (other.status_code, other.json()["at"]) == (422, "Idempotency-Key")


@pytest.mark.parametrize(
    ("body", "at"),
    [
        ({"input": ""}, "input"),
        ({"colour": "red"}, "colour"),
        ({"tools": ["none_such"]}, "tools.0"),
        ({"model": 1}, "model"),
    ],
)
def test_a_wrong_request_is_rejected_in_its_shape(serving: Any, body: dict[str, Any], at: str) -> None:
    """The error names the field in the format of Lines."""
    response = serving(says(*TEXTS)).ask(**body)
    assert (response.status_code, response.json()["at"]) == (422, at)
    assert set(response.json()) == {"problem", "at"}


def test_a_wrong_method_is_rejected_in_its_shape(serving: Any) -> None:
    """The page, mounted at /, does not answer for the protocol's path."""
    response = serving(says(*TEXTS)).app.client.get("/lines")
    assert (response.status_code, response.headers["allow"], set(response.json())) == (405, "POST", {"problem", "at"})


def test_a_token_is_required_in_its_shape(serving: Any) -> None:
    """A path outside /api/ is protected by default, and rejects in the protocol's format."""
    client = serving(says(*TEXTS), token="secret-token")
    refused = client.ask()
    assert (refused.status_code, set(refused.json())) == (401, {"problem", "at"})
    assert client.ask(headers={"authorization": "Bearer secret-token"}).status_code == 200


def test_its_runs_are_runs(serving: Any) -> None:
    """List, trace, v1.1 stream and saves include the run; its question is stored in v1.1 form."""
    client = serving(says(*TEXTS))
    run_id = client.stream().headers["x-run-id"]
    api = client.app.client
    assert [run["run_id"] for run in api.get("/api/runs").json()["runs"]] == [run_id]
    assert api.get(f"/api/runs/{run_id}").json()["request"]["messages"] == [{"role": "user", "characters": 21}]
    assert b'"v":"1.1"' in api.get(f"/api/runs/{run_id}/events").content
    saved = api.post("/api/saves", json={"run_id": run_id}).json()
    question = api.get(f"/api/saves/{saved['id']}").json()["question"]
    assert question["messages"] == [{"role": "user", "content": "What is six by seven?"}]


def test_a_client_that_leaves_ends_the_run(start_app: StartApp, lines: ClientProtocol[Any]) -> None:
    """A complete answer has a subscriber, too: the run of a disconnected client is cancelled."""
    app, upstream = start_app(holds, protocols=(*PROTOCOLS, lines))
    body = b'{"model": "openai/sim", "input": "Hello!"}'
    head = b"POST /lines HTTP/1.1\r\nhost: localhost\r\ncontent-length: %d\r\n\r\n" % len(body)
    with socket.create_connection(("127.0.0.1", app.port)) as connection:
        connection.sendall(head + body)
        assert upstream.wait_until(lambda: len(upstream.asked) == 1)
        [run_id] = app.call(lambda: [*app.parts.runs._live])
    done = app.over(run_id).done
    assert done is not None
    assert done.status == "cancelled"
    assert app.call(lambda: app.parts.streams.open) == 0
