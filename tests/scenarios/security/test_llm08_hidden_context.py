"""LLM08 Hidden Context Exposure: a model's context contains no secret, and only its client can read it."""

import json
from pathlib import Path

from tests.scenarios.security.hostile import obeys
from tests.scenarios.security.test_llm02_sensitive_information import ALL, BEARER, leaks
from tests.support.fixtures import StartApp
from tests.support.scripted_upstream import Exchange
from tests.support.stream_reader import check_stream

SYSTEM = "canary-system-0815"


def test_g03_a_request_upstream_holds_no_secret_and_no_path(start_app: StartApp, tmp_path: Path) -> None:
    """Upstream requests contain no key, token, address, folder, user or host name."""
    app, upstream = start_app(obeys(("calculate", {"expression": "1+1"}), ("search_web", {"query": "x"})), settings=ALL)
    app.client.headers.update(BEARER)
    check_stream(app.post(prompt="Go.").content)
    for asked in upstream.asked:
        body = json.dumps(asked.body)
        assert leaks(body) == []
        for inside in (str(tmp_path), str(Path.home()), f"127.0.0.1:{app.port}", "SIGNALBOX_", "signalbox-access"):
            assert inside not in body
        assert [name for name in asked.headers if "cookie" in name or "forward" in name] == []


def test_g03_the_callers_system_prompt_is_told_to_the_model_alone(start_app: StartApp) -> None:
    """It is in neither stream, trace, list nor API description, also if a run fails."""

    async def refuses(exchange: Exchange) -> None:
        await exchange.whole(400, b'{"error":{"code":400,"message":"no"},"user_id":"org-1"}')

    for script in (obeys(("calculate", {"expression": "1+1"})), refuses):
        app, upstream = start_app(script)
        response = app.post(prompt="Go.", system=SYSTEM, finalize_hint=SYSTEM)
        assert SYSTEM in json.dumps(upstream.asked[0].body)
        trace = app.client.get(f"/api/runs/{response.headers['x-run-id']}").text
        for told in (response.text, trace, app.client.get("/api/runs").text, app.client.get("/openapi.json").text):
            assert SYSTEM not in told


def test_g03_the_rules_do_not_rest_on_secrecy(start_app: StartApp) -> None:
    """A model that knows its context, delimiters and tools included, can do no more than another."""
    app, upstream = start_app(
        obeys(("search_web", {"query": "x"}), ("read_url", {"url": "https://evil.example/?q=all"}))
    )
    assert app.ask("Go.").result_codes() == [None, "URL_NOT_FOUND_HERE"]
    offered = {tool["function"]["name"] for tool in upstream.asked[0].body["tools"]}
    listed = {tool["name"] for tool in app.client.get("/api/tools").json()["tools"]}
    assert offered <= listed  # there is no hidden tool
