"""LLM02 Sensitive Information Disclosure: keys leave this process only to their provider (quirk G4)."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest
import structlog
from signalbox.app.logs.setup import configure_logs
from signalbox.core.codes import Code
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.tools import Tool, ToolContext, ToolError, ToolSpec

from tests.scenarios.security.hostile import obeys
from tests.support.fixtures import StartApp
from tests.support.processes import serving
from tests.support.running_app import RunningApp, settings_for
from tests.support.scripted_upstream import DONE, Exchange, ScriptedUpstream, chunk, says, sends
from tests.support.stream_reader import check_stream

KEY = "sk-or-v1-canary9999888877776666"
BRAVE = "brave-canary-55554444"
TAVILY = "tvly-canary-33332222"
ACCESS = "access-canary-11110000"
ADMIN = "admin-canary-99990000"
CANARIES = (KEY, BRAVE, TAVILY, ACCESS, ADMIN)
ALL = {
    "openrouter_api_key": KEY,
    "brave_api_key": BRAVE,
    "tavily_api_key": TAVILY,
    "signalbox_access_token": ACCESS,
    "signalbox_admin_token": ADMIN,
}
BEARER = {"authorization": f"Bearer {ACCESS}"}


def leaks(*texts: str) -> list[str]:
    """Return the canaries that texts contain, in full or in part."""
    return [key for key in CANARIES for text in texts if key in text or key[-12:] in text]


def echoes_search_key(status: int) -> Any:
    """Act as a search service that echoes the key in its body and headers."""

    async def script(exchange: Exchange) -> None:
        key = exchange.asked.headers.get("x-subscription-token") or exchange.asked.headers.get("authorization", "")
        body = {"error": {"detail": f"Invalid token {key}", "meta": {"token": key}}, "message": key}
        await exchange.whole(status, json.dumps(body).encode(), x_token=key)

    return script


@pytest.mark.parametrize("backend", ["brave", "tavily"])
@pytest.mark.parametrize("status", [200, 401, 422, 500])
def test_g04_an_echoed_search_key_is_not_shown(start_app: StartApp, backend: str, status: int) -> None:
    """An echoed search key reaches neither model, stream, trace nor log."""
    with ScriptedUpstream(says(), models=echoes_search_key(status), path="") as search:
        app, upstream = start_app(
            obeys(("search_web", {"query": "pandas"})),
            settings={**ALL, "search_backend": backend, f"{backend}_base_url": search.base_url},
        )
        app.client.headers.update(BEARER)
        response = app.post(prompt="Search.")
        heard = check_stream(response.content)
        assert search.catalogues  # the request had the key
        assert BRAVE in str(search.catalogues[0].headers) or TAVILY in str(search.catalogues[0].headers)
        trace = app.client.get(f"/api/runs/{response.headers['x-run-id']}").text
        sent = [json.dumps(asked.body) for asked in upstream.asked]
        assert leaks(response.text, str(response.headers), trace, *sent, *heard.comments) == []


async def _sweats(arguments: JsonObject, context: ToolContext) -> JsonValue:
    raise RuntimeError(f"cannot use {KEY} with {BRAVE}")


async def _groups(arguments: JsonObject, context: ToolContext) -> JsonValue:
    raise ExceptionGroup(KEY, [ValueError(BRAVE)]) from ToolError(Code.TOOL_FAILED, TAVILY)


def test_g04_the_text_of_an_exception_is_not_shown(start_app: StartApp, capfd: pytest.CaptureFixture[str]) -> None:
    """A tool exception that contains keys is a plain failure for the model, the page and the log."""
    nothing: JsonObject = {"type": "object", "properties": {}}
    tools = [Tool(ToolSpec("sweats", "S.", nothing), _sweats), Tool(ToolSpec("groups", "G.", nothing), _groups)]
    app, upstream = start_app(obeys([("sweats", {}), ("groups", {})]), extra_tools=tools)
    response = app.post(prompt="Go.")
    heard = check_stream(response.content)
    assert heard.result_codes() == ["TOOL_FAILED", "TOOL_FAILED"]
    trace = app.client.get(f"/api/runs/{response.headers['x-run-id']}").text
    logged = "".join(capfd.readouterr())
    assert "tool.failed" in logged
    assert leaks(response.text, trace, logged, *(json.dumps(asked.body) for asked in upstream.asked)) == []


def test_g04_an_upstreams_error_reaches_the_page_by_allow_list(start_app: StartApp, no_waiting: Any) -> None:
    """Only known fields of an upstream error are shown, without user ids, raw bodies, routing and key hash."""
    error = {
        "code": 400,
        "message": f"Provider returned error for {KEY}",
        "metadata": {
            "raw": json.dumps({"error": {"message": f"key {KEY} of org-canary"}}),
            "provider_name": f"Provider {KEY}",
            "headers": {"Authorization": KEY},
            "key_hash": "hash-canary",
        },
        "user_id": "user-canary",
    }
    allowed = {"type", "ts", "done", "status", "error", "code", "retryable", "retry_after", "requested_model", "model"}
    allowed |= {"provider", "loop", "flag", "steps", "usage", "cost", "cost_estimated", "simulated"}
    allowed |= {"duration_ms", "first_token_ms"}

    async def refuses(exchange: Exchange) -> None:
        await exchange.whole(400, json.dumps({"error": error, "user_id": "user-canary"}).encode())

    for script in (refuses, sends(chunk({"content": "So"}) + chunk({}, finish="error", error=error) + DONE)):
        app, _ = start_app(script, settings=ALL)
        app.client.headers.update(BEARER)
        response = app.post(prompt="Go.", tools=[])
        heard = check_stream(response.content)
        trace = app.client.get(f"/api/runs/{response.headers['x-run-id']}").text
        assert set(heard.done) <= allowed
        assert leaks(response.text, trace, str(response.headers)) == []
        for canary in ("user-canary", "hash-canary"):
            assert canary not in response.text + trace


@pytest.mark.e2e
def test_g04_no_log_of_a_whole_process_holds_a_key(tmp_path: Path) -> None:
    """Access log, app log, early errors and data folder contain no key."""
    with ScriptedUpstream(says("Hi."), models=echoes_search_key(401)) as upstream:
        env = {name.upper(): value for name, value in ALL.items()}
        env |= {"OPENROUTER_BASE_URL": upstream.base_url, "SIGNALBOX_LOG_LEVEL": "debug", "SEARCH_BACKEND": "brave"}
        heard: list[str] = []
        with serving(tmp_path, env=env) as process, process.client() as client:
            client.headers.update(BEARER)
            assert client.post("/api/chat/stream", json={"model": "openai/sim", "prompt": "Hi"}).status_code == 200
            for method, path in (
                ("GET", "/api/runs"), ("GET", "/api/tools"), ("GET", "/api/models"), ("GET", "/api/flags/tool_loop_v2"),
                ("GET", "/health/ready"), ("GET", "/openapi.json"), ("POST", "/api/runs/none/stop"),
                ("GET", "/api/runs?limit=x"), ("GET", "/api/nothing"), ("PUT", "/api/chat/stream"),
            ):  # fmt: skip
                answer = client.request(method, path)
                heard += [answer.text, str(answer.headers)]
            refused = client.get("/api/runs", headers={"authorization": f"Bearer {ACCESS[:-1]}x"})
            assert refused.status_code == 401
            heard += [refused.text]
        heard += [process.errors(), "\n".join(process.printed)]
    kept = [path.read_bytes().decode("latin-1") for path in (tmp_path / "data").rglob("*") if path.is_file()]
    assert leaks(*heard, *kept) == []


def test_g04_settings_do_not_show_their_secrets(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Printed or logged settings show asterisks."""
    settings = settings_for(tmp_path, **ALL)
    logging.getLogger("probe").warning("%r %s %s", settings, settings, settings.model_dump_json())
    assert leaks(caplog.text, repr(settings), str(settings.model_dump())) == []
    with RunningApp(settings_for(tmp_path)) as app:
        assert leaks(repr(app.parts)) == []


def test_g04_a_key_is_struck_out_of_whatever_is_logged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A key in a log field or name is replaced; exceptions are logged by type."""
    settings = settings_for(tmp_path, **ALL)
    assert set(settings.secrets) == set(CANARIES)
    before = structlog.get_config()
    configure_logs("info", settings.secrets)
    structlog.get_logger().warning("probe", told=f"key {KEY}", where={BRAVE: [TAVILY]}, error=ValueError(ACCESS))
    structlog.configure(**before)
    logged = capsys.readouterr().err
    assert "probe" in logged
    assert logged.count("[secret]") == 3
    assert '"error":"<ValueError>"' in logged
    assert leaks(logged) == []
