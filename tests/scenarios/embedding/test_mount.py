"""Signalbox mounted in a FastAPI app: every endpoint works under the prefix as it does at the root."""

import re
from collections.abc import Iterator
from itertools import product
from typing import Any

import httpx
import pytest
from signalbox.simulator.http.server import BackgroundSimulator

from tests.scenarios.embedding.hosts import host_of, mounted, serving_host
from tests.scenarios.embedding.requests import LISTS, PAGES, QUESTIONS, READS, WRONG
from tests.support.running_app import RunningApp, read_until
from tests.support.stream_reader import check_stream, parse_stream

PREFIXES = ("/chat", "/tools/v1/api", "/räume/a b", "/api", "/guide")
# Under a prefix, the page of a document is not sent as a file.
_OF_FILES = {"content-encoding", "vary", "last-modified", "accept-ranges", "transfer-encoding"}
_OF_ONE_RESPONSE = {"date", "server", "x-request-id", "x-run-id", "etag", "content-length"}


@pytest.fixture(scope="module")
def host(simulator: BackgroundSimulator, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """Serve a host with one Signalbox per prefix."""
    apps = {
        prefix: mounted(tmp_path_factory.mktemp("data"), openrouter_base_url=simulator.base_url) for prefix in PREFIXES
    }
    made = host_of(*apps.values())
    for prefix, app in apps.items():
        made.mount(prefix, app)
    with serving_host(made) as client:
        yield client


@pytest.mark.parametrize("accept", ["text/html", "*/*"])
@pytest.mark.parametrize("prefix", PREFIXES)
def test_every_read_answers_as_at_the_root(app: RunningApp, host: httpx.Client, prefix: str, accept: str) -> None:
    """Status, headers and body are those of an app at the root; only the prefix of addresses differs."""
    for method, path in (*product(("GET", "HEAD"), (*PAGES, *READS, *WRONG)), *product(("POST", "PUT"), WRONG)):
        headers = {"accept": accept}
        expected = app.client.request(method, path, headers=headers)
        found = host.request(method, f"{prefix}{path}", headers=headers)
        assert found.status_code == expected.status_code, path
        assert _headers(found, prefix) == _headers(expected), path
        if path not in LISTS:
            assert _body(found) == _body(expected), path


def _headers(response: httpx.Response, prefix: str = "") -> dict[str, str]:
    """Return the headers without what differs between two responses, and without the prefix of the page's addresses."""
    encoded = httpx.URL(f"http://x{prefix}").raw_path.decode() if prefix else ""
    ignored = _OF_ONE_RESPONSE | (
        _OF_FILES if response.headers.get("content-type", "").startswith("text/html") else set()
    )
    shared = {name: value for name, value in response.headers.items() if name not in ignored}
    frame = re.compile(rf"http://127\.0\.0\.1:\d+{re.escape(encoded)}/preview-frame")
    return {name: frame.sub("/preview-frame", value.replace(f"<{encoded}/", "</")) for name, value in shared.items()}


def _body(response: httpx.Response) -> Any:
    """Return the body without what differs between two responses. HTML names the prefix: the tests of pages read it."""
    kind = response.headers.get("content-type", "")
    if "application/json" in kind and response.content:
        return {name: value for name, value in response.json().items() if name not in {"servers", "pid", "fetched"}}
    return None if "text/html" in kind else response.content


@pytest.mark.parametrize("path", QUESTIONS)
@pytest.mark.parametrize("prefix", PREFIXES)
def test_every_protocol_answers_as_at_the_root(app: RunningApp, host: httpx.Client, prefix: str, path: str) -> None:
    """A question over each protocol has the same answer, and the same format of errors."""
    question = {**QUESTIONS[path], **({"id": prefix} if "id" in QUESTIONS[path] else {})}
    expected, found = (
        client.post(f"{start}{path}", json=question) for client, start in ((app.client, ""), (host, prefix))
    )
    assert (found.status_code, found.headers["content-type"]) == (200, expected.headers["content-type"])
    assert _words(found) == _words(expected)
    rejected = app.client.post(path, json={"model": 1}), host.post(f"{prefix}{path}", json={"model": 1})
    assert rejected[0].status_code == rejected[1].status_code >= 400
    assert rejected[0].text == rejected[1].text


def _words(response: httpx.Response) -> list[str]:
    """Return the words of an answer, without ids and numbers."""
    return re.findall(r"[A-Za-z]{2,}", re.sub(r"[\w-]*\d[\w-]*", " ", response.text))


def test_a_stream_is_resumed_and_stopped_under_the_prefix(host: httpx.Client) -> None:
    """A stream that breaks is resumed by its last id; a stopped run has one `done`."""
    body = {"model": "openai/sim", "prompt": "Hello!", "on_disconnect": "continue"}
    with host.stream("POST", "/chat/api/chat/stream", json=body) as response:
        run_id, first = response.headers["x-run-id"], read_until(response.iter_raw(), b"id: ")
    last = f"{run_id}:0" if b"\n\n" not in first else parse_stream(first[: first.rfind(b"\n\n") + 2]).ids[-1]
    rest = host.get(f"/chat/api/runs/{run_id}/events", headers={"last-event-id": last})
    assert check_stream(rest.content, resumed=True).done["status"] == "complete"
    assert host.post(f"/chat/api/runs/{run_id}/stop").status_code == 200
    assert host.get(f"/chat/api/runs/{run_id}").json()["status"] == "complete"


def test_a_conversation_and_a_save_live_under_the_prefix(host: httpx.Client) -> None:
    """Conversations and saves of one mount are not those of another."""
    conversation = host.post("/chat/api/conversations", json={"title": "Mine"}).json()["id"]
    body = {"model": "openai/sim", "prompt": "Hello!", "conversation_id": conversation}
    run_id = host.post("/chat/api/chat/stream", json=body).headers["x-run-id"]
    save_id = host.post("/chat/api/saves", json={"run_id": run_id}).json()["id"]
    for path in (f"/api/conversations/{conversation}", f"/api/runs/{run_id}", f"/api/saves/{save_id}/events"):
        assert host.get(f"/chat{path}").status_code == 200
        assert host.get(f"/guide{path}").status_code == 404
    assert host.get(f"/api/conversations/{conversation}").status_code == 404


@pytest.mark.parametrize("prefix", PREFIXES)
def test_redirects_stay_under_the_prefix(host: httpx.Client, prefix: str) -> None:
    """A redirect to a folder has the prefix, also a prefix that must be encoded."""
    for path in ("", "/guide", "/notes"):
        response = host.get(f"{prefix}{path}")
        assert response.status_code == 307
        target = response.headers["location"].removeprefix(str(host.base_url).rstrip("/"))
        assert target == httpx.URL(f"http://x{prefix}{path}/").raw_path.decode()
        assert host.get(target).status_code == 200


def test_the_document_names_the_prefix(app: RunningApp, host: httpx.Client) -> None:
    """Clients generated from /openapi.json send requests under the prefix; at the root, no server is named."""
    assert host.get("/chat/openapi.json").json()["servers"] == [{"url": "/chat"}]
    assert "servers" not in app.client.get("/openapi.json").json()
