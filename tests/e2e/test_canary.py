"""Upstreams that echo the API key and the prompt in every way: no response, log or trace contains the key."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import serving
from tests.support.scripted_upstream import DONE, Exchange, ScriptedUpstream, chunk
from tests.support.stream_reader import check_stream

pytestmark = pytest.mark.e2e

PROMPT = "canary-prompt-5521"


def ways(key: str) -> list[Any]:
    """Return scripts that echo the Authorization header in different places."""

    def body(words: str, **fields: Any) -> bytes:
        return json.dumps({"error": {"code": 401, "message": words, **fields}, "user_id": key}).encode()

    def whole(status: int, make: Any, kind: str = "application/json") -> Any:
        async def script(exchange: Exchange) -> None:
            words = exchange.asked.headers["authorization"]
            await exchange.whole(status, make(f"No auth: {words} from {key}"), kind, x_echo=words)

        return script

    def midstream(*, as_choice: bool) -> Any:
        async def script(exchange: Exchange) -> None:
            error = {
                "code": 401,
                "message": f"bad key {exchange.asked.headers['authorization']}",
                "metadata": {"raw": key},
            }
            await exchange.head()
            await exchange.send_text("So far")
            if as_choice:
                choice = {"index": 0, "delta": {}, "finish_reason": "error", "error": error}
                await exchange.send(b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n")
            else:
                await exchange.send(chunk({}, finish="error", error=error))
            await exchange.send(DONE)
            await exchange.raw(b"0\r\n\r\n")

        return script

    async def named(exchange: Exchange) -> None:
        await exchange.head()
        await exchange.send(b"event: error\ndata: " + json.dumps({"message": key, "code": 401}).encode() + b"\n\n")
        await exchange.raw(b"0\r\n\r\n")

    async def garbage(exchange: Exchange) -> None:
        await exchange.head()
        for _ in range(10):
            await exchange.send(b"data: {" + key.encode() + b"\n\n")
        await exchange.raw(b"0\r\n\r\n")

    return [
        whole(401, body),
        whole(400, lambda words: body("x", metadata={"raw": words, "provider_name": key})),
        whole(403, lambda words: body(json.dumps({"error": {"message": words}}))),
        whole(401, lambda words: json.dumps({"error": words}).encode()),
        whole(404, lambda words: f"<html><body>{words}</body></html>".encode(), "text/html"),
        whole(402, lambda words: words.encode(), "text/plain"),
        whole(400, lambda words: body("x" * 289 + " " + key)),
        whole(200, body),
        whole(200, lambda words: f"<html>{words}</html>".encode(), "text/html"),
        midstream(as_choice=False),
        midstream(as_choice=True),
        named,
        garbage,
    ]


@pytest.mark.parametrize("key", ["sk-or-v1-canary0123456789abcdef", "house-canary+key/77=="])
def test_neither_key_nor_prompt_is_ever_shown(tmp_path: Path, key: str) -> None:
    """No response, header, log line or trace contains the key.

    Only the request and the database contain the prompt (G4).
    """
    scripts = ways(key)
    heard: list[str] = []

    async def no_models(exchange: Exchange) -> None:
        await exchange.whole(401, json.dumps({"error": {"message": f"bad {key}"}}).encode())

    with ScriptedUpstream(*scripts, models=no_models) as upstream:
        env = {"OPENROUTER_API_KEY": key, "OPENROUTER_BASE_URL": upstream.base_url, "SIGNALBOX_LOG_LEVEL": "debug"}
        with serving(tmp_path, env=env) as process, process.client() as client:
            while len(upstream.asked) < len(scripts):
                response = client.post(
                    "/api/chat/stream",
                    json={"model": "openai/sim", "prompt": PROMPT, "system": PROMPT, "tools": []},
                )
                told = check_stream(response.content)
                assert told.done["status"] in ("error", "interrupted"), told.raw
                heard += [response.text, str(response.headers)]
                trace = client.get(f"/api/runs/{response.headers['x-run-id']}")
                heard += [trace.text, client.get(f"/api/runs/{response.headers['x-run-id']}/events").text]
            heard += [client.get(path).text for path in ("/api/runs", "/api/models", "/api/tools", "/openapi.json")]
            heard += [client.post("/api/chat/stream", json={"prompt": PROMPT, "model": key, "x": 1}).text]
            bad = client.post("/api/chat/stream", json={"model": "openai/sim", "prompt": PROMPT, "seed": PROMPT})
            assert bad.status_code == 422
            heard += [bad.text]
        heard += [process.errors(), "\n".join(process.printed)]
        assert all(asked.headers["authorization"] == f"Bearer {key}" for asked in upstream.asked)
        assert all(PROMPT in asked.raw.decode() for asked in upstream.asked)
    kept = {path.name: path.read_bytes().decode("latin-1") for path in tmp_path.glob("data/**/*") if path.is_file()}
    for text in [*heard, *kept.values()]:
        assert key not in text
        assert key[:10] not in text
        assert key[-10:] not in text
    assert {name for name, text in kept.items() if PROMPT in text} == {"signalbox.db"}  # which its owner alone can read
    assert PROMPT not in "".join(heard)
    lines = [json.loads(line) for line in process.errors().splitlines() if line.startswith("{")]
    assert len([line for line in lines if line["event"] == "run.finished"]) >= 8
