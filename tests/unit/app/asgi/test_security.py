"""Access control by host, origin and token, and the headers of every response."""

from pathlib import Path

import httpx
import pytest
from signalbox.services.catalog import ModelCatalog
from signalbox.store.runs.journal import JournalStore

from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp, error_of, settings_for
from tests.support.scripted_upstream import says

ASK = {"model": "openai/sim", "prompt": "Hello!", "tools": []}


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:{port}", 200),
        ("localhost:{port}", 200),
        ("LOCALHOST", 200),
        ("[::1]:{port}", 200),
        ("evil.example", 403),
        ("evil.example:{port}", 403),
        ("127.0.0.1.evil.example:{port}", 403),
        ("localhost.evil.example", 403),
        ("", 403),
        ("[evil", 403),
        ("127.0.0.1:{port}@evil.example", 403),
        ("127.0.0.1:evil.example", 403),
        ("[::1]@evil.example", 403),
        ("\xe4.example", 403),
    ],
)
def test_hosts_are_an_allow_list(app: RunningApp, host: str, status: int) -> None:
    """An unknown host is rejected on every route, also for reads (DNS rebinding)."""
    headers = [(b"host", host.replace("{port}", str(app.port)).encode("latin-1"))]
    for path in ("/health/live", "/api/runs", "/api/models"):
        response = app.client.get(path, headers=headers)
        assert response.status_code == status
        if status == 403:
            assert error_of(response)["code"] == "HOST_NOT_ALLOWED"
    assert app.client.post("/api/chat/stream", json=ASK, headers=headers).status_code == status


def test_hosts_can_be_added(tmp_path: Path) -> None:
    """A setting allows exactly one more host."""
    settings = settings_for(tmp_path, signalbox_allowed_hosts="box.example, Other.Example")
    with RunningApp(settings) as app:
        for host, status in (("box.example:80", 200), ("other.example", 200), ("localhost", 200), ("x.example", 403)):
            assert app.client.get("/api/runs", headers={"host": host}).status_code == status


OWN = "http://127.0.0.1:{port}"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"origin": OWN}, 200),
        ({"origin": OWN, "sec-fetch-site": "same-origin"}, 200),
        ({"sec-fetch-site": "none"}, 200),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": ""}, 403),
        ({"origin": "http://127.0.0.1:1"}, 403),
        ({"origin": "http://["}, 403),
        ({"origin": "http://localhost:{port}"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"origin": OWN, "sec-fetch-site": "cross-site"}, 403),
    ],
)
def test_only_our_page_and_programs_may_start_runs(app: RunningApp, headers: dict[str, str], status: int) -> None:
    """A page of another origin can neither start nor stop a run."""
    sent = {name: value.replace("{port}", str(app.port)) for name, value in headers.items()}
    run_id = app.post(prompt="Hello!").headers["x-run-id"]
    for path in ("/api/chat/stream", f"/api/runs/{run_id}/stop"):
        response = app.client.post(path, json=ASK, headers=sent)
        assert response.status_code == status
        assert "access-control-allow-origin" not in response.headers
        if status == 403:
            assert error_of(response)["code"] == "ORIGIN_NOT_ALLOWED"


def test_a_form_of_another_page_is_rejected(app: RunningApp) -> None:
    """A form that needs no preflight (text/plain) is rejected by its origin."""
    headers = {"origin": "https://evil.example", "content-type": "text/plain"}
    response = app.client.post("/api/chat/stream", content=b'{"model":"openai/sim","prompt":"x"}', headers=headers)
    assert response.status_code == 403


def test_an_allowed_origin_reads_the_stream_and_its_headers(tmp_path: Path) -> None:
    """A page of an allowed origin passes the preflight and reads the run's id; another page does not."""
    with RunningApp(settings_for(tmp_path, signalbox_allowed_origins="https://page.example")) as app:
        page = {"origin": "https://page.example", "sec-fetch-site": "cross-site"}
        ask = {"access-control-request-method": "POST", "access-control-request-headers": "content-type,last-event-id"}
        preflight = app.client.options("/api/chat/stream", headers={**page, **ask})
        answer = app.client.post("/api/chat/stream", json=ASK, headers=page)
        evil = app.client.post("/api/chat/stream", json=ASK, headers={"origin": "https://evil.example"})
        refused = app.client.options("/api/chat/stream", headers={"origin": "https://evil.example", **ask})
        wrong = app.client.post("/api/chat/stream", json={}, headers=page)
    assert preflight.status_code == 200
    assert preflight.headers["access-control-allow-origin"] == "https://page.example"
    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == "https://page.example"
    exposed = {name.strip() for name in answer.headers["access-control-expose-headers"].split(",")}
    assert exposed == {
        "x-chat-contract",
        "x-request-id",
        "x-run-id",
        "x-tool-loop",
        "x-conversation-id",
        "x-message-id",
        "x-file-version",
        "retry-after",
        "x-should-retry",
        "aui-replay-content-length",
        "content-disposition",
    }
    assert "access-control-allow-credentials" not in answer.headers
    assert evil.status_code == 403
    assert "access-control-allow-origin" not in evil.headers
    assert refused.status_code == 400
    assert wrong.status_code == 422
    assert wrong.headers["access-control-allow-origin"] == "https://page.example"


def test_without_allowed_origins_nothing_is_shared(app: RunningApp) -> None:
    """By default no page of another origin can read a response."""
    response = app.client.get("/api/runs", headers={"origin": "https://evil.example"})
    assert not [name for name in response.headers if name.startswith("access-control")]


def test_the_whole_api_requires_the_token(tmp_path: Path) -> None:
    """Every route under /api responds 401 in the same format for any invalid token."""
    with RunningApp(settings_for(tmp_path, signalbox_access_token="right-token")) as app:
        bodies: set[bytes] = set()
        for given in (None, "", "Bearer", "Bearer wrong", "Bearer right-toke", "Basic cmlnaHQ=", "\xe4"):
            headers = [] if given is None else [(b"authorization", given.encode("latin-1"))]
            for method, path in (
                ("GET", "/api/runs"),
                ("GET", "/api/models"),
                ("GET", "/api/tools"),
                ("GET", "/api/nothing"),
                ("GET", "/api/runs/x/events"),
                ("POST", "/api/runs/x/stop"),
                ("POST", "/api/chat/stream"),
            ):
                response = app.client.request(method, path, headers=headers)
                assert response.status_code == 401, (given, path)
                assert error_of(response)["code"] == "UNAUTHORIZED"
                bodies.add(response.content)
        assert len(bodies) == 1
        assert b"right" not in bodies.pop()
        right = {"authorization": "Bearer right-token"}
        assert app.client.get("/api/runs", headers=right).status_code == 200
        assert app.client.post("/api/chat/stream", json=ASK, headers=right).status_code == 200
        assert app.client.get("/health/live").status_code == 200


@pytest.mark.parametrize("path", ["/", "/api/runs", "/api/nothing", "/health/live", "/openapi.json"])
def test_every_response_has_security_headers(app: RunningApp, path: str) -> None:
    """Every response has the content policy and the other security headers (G2)."""
    headers = app.client.get(path).headers
    assert "default-src 'self'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"


def test_errors_have_security_headers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rejections, uncaught errors and preflights have the headers too."""

    async def breaks(catalog: ModelCatalog, model: str) -> None:
        raise ZeroDivisionError

    page = {"origin": "https://page.example", "sec-fetch-site": "cross-site"}
    preflight = {"access-control-request-method": "POST"}
    with RunningApp(settings_for(tmp_path, signalbox_allowed_origins="https://page.example"), token="right") as app:
        monkeypatch.setattr(ModelCatalog, "check", breaks)
        right = {"authorization": "Bearer right"}
        answers = [
            app.client.post("/api/chat/stream", json=ASK, headers=page),
            app.client.post("/api/chat/stream", json=ASK, headers={**page, **right}),
            app.client.options("/api/chat/stream", headers={**page, **preflight}),
        ]
    assert [one.status_code for one in answers] == [401, 500, 200]
    assert error_of(answers[1])["code"] == "INTERNAL"
    for one in answers:
        assert "frame-ancestors 'none'" in one.headers["content-security-policy"]
        assert one.headers["x-content-type-options"] == "nosniff"
        assert one.headers["access-control-allow-origin"] == "https://page.example"


def test_the_key_is_sent_only_to_the_configured_url(start_app: StartApp) -> None:
    """A redirect of the upstream is not followed, so the key is not sent elsewhere (quirk G4)."""
    other, elsewhere = start_app(says("Stolen."))
    from tests.support.scripted_upstream import Exchange

    async def redirects(exchange: Exchange) -> None:
        await exchange.whole(307, b"", location=f"{elsewhere.base_url}/chat/completions")

    app, upstream = start_app(redirects, settings={"openrouter_api_key": "sk-or-v1-canary0000"})
    elsewhere.asked.clear()
    elsewhere.catalogues.clear()
    heard = app.ask(tools=[])
    assert (heard.done["status"], heard.done["code"]) == ("error", "UPSTREAM_PROTOCOL")
    assert "redirect" in heard.done["error"]
    assert len(upstream.asked) == 1
    assert upstream.asked[0].headers["authorization"] == "Bearer sk-or-v1-canary0000"
    assert elsewhere.asked == elsewhere.catalogues == []
    del other


def test_openapi_has_examples_and_no_key(tmp_path: Path) -> None:
    """The document has examples for the chat body, the stream and errors, and contains no key."""
    with RunningApp(
        settings_for(tmp_path, openrouter_api_key="sk-or-v1-canary0000", openrouter_base_url="http://127.0.0.1:9/v1")
    ) as app:
        response = app.client.get("/openapi.json")
    assert "canary" not in response.text
    paths = response.json()["paths"]
    post = paths["/api/chat/stream"]["post"]
    assert post["requestBody"]["content"]["application/json"]["examples"]
    assert "text/event-stream" in post["responses"]["200"]["content"]
    assert {"/api/runs", "/api/runs/{run_id}", "/api/runs/{run_id}/events", "/api/runs/{run_id}/stop"} <= set(paths)
    assert {"/api/models", "/api/tools", "/health/live", "/health/ready"} <= set(paths)


def test_the_examples_of_openapi_work(app: RunningApp) -> None:
    """Every example of a request is accepted."""
    paths = app.client.get("/openapi.json").json()["paths"]
    examples = paths["/api/chat/stream"]["post"]["requestBody"]["content"]["application/json"]["examples"]
    for example in examples.values():
        assert app.client.post("/api/chat/stream", json=example["value"]).status_code == 200


def test_readiness_tells_what_is_missing(tmp_path: Path) -> None:
    """Without its data folder the server is live but not ready."""
    folder = tmp_path / "data"
    with RunningApp(settings_for(folder)) as app:
        assert app.client.get("/health/ready").json()["checks"]["data_folder"] is True
        folder.rename(tmp_path / "moved")
        response = app.client.get("/health/ready")
        assert (response.status_code, response.json()["status"]) == (503, "not ready")
        assert response.json()["checks"]["data_folder"] is False
        assert app.client.get("/health/live").status_code == 200
        (tmp_path / "moved").rename(folder)
        store = app.parts.runs.store
        assert isinstance(store, JournalStore)
        store.is_healthy = False
        assert app.client.get("/health/ready").json()["checks"]["database"] is False


def test_an_unexpected_failure_is_a_plain_500(app: RunningApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """The response to an internal error contains neither its message nor its location."""
    from signalbox.app.routers import runs

    def breaks(run: object) -> None:
        raise RuntimeError("secret words")

    run_id = app.post(prompt="Hello!").headers["x-run-id"]
    monkeypatch.setattr(runs, "trace_of", breaks)
    response: httpx.Response = app.client.get(f"/api/runs/{run_id}")
    assert (response.status_code, error_of(response)["code"]) == (500, "INTERNAL")
    assert "secret" not in response.text
