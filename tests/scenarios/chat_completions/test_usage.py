"""Usage and cost of answers and failures: what the upstream reported, and a mark where an attempt is missing."""

import json
from typing import Any

import httpx
import pytest

from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp
from tests.support.scripted_upstream import DONE, Script, call_chunk, calls_then, chunk, sends

FEW = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10, "cost": 0.002}
ENDED = chunk({}, finish="stop")
WANTED = {"stream_options": {"include_usage": True}}
SHAPES: dict[str, dict[str, Any]] = {"whole": {}, "stream": {"stream": True}, "wanted": {"stream": True, **WANTED}}


def ask(app: RunningApp, path: str = "/v1", **fields: Any) -> httpx.Response:
    """Ask a question."""
    body = {"model": "openai/sim", "messages": [{"role": "user", "content": "Hello!"}], **fields}
    return app.client.post(f"{path}/chat/completions", json=body)


def usage_in(response: httpx.Response) -> Any:
    """Return the last usage that a client sees: of a body, an error, or a stream."""
    if response.headers["content-type"] == "application/json":
        return response.json().get("usage")
    frames = [frame for frame in response.text.split("\n\n") if frame.startswith("data: {")]
    found = [value for frame in frames if (value := json.loads(frame.removeprefix("data: ")).get("usage"))]
    return found[-1] if found else None


def counted(**fields: Any) -> dict[str, Any]:
    """Return a usage in the form of an answer."""
    usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0, **fields}
    details = {"prompt_tokens_details": {"cached_tokens": 0}, "completion_tokens_details": {"reasoning_tokens": 0}}
    return {**usage, **details}


ANSWERS: dict[str, tuple[Script, int, Any]] = {
    "reported": (sends(chunk({"content": "Hi."}), ENDED, chunk({}, usage=FEW), DONE), 200, counted(**FEW)),
    "not reported": (sends(chunk({"content": "Hi."}), ENDED, DONE), 200, counted(cost_estimated=True)),
    "failed unpaid": (sends(b'{"error":{"code":403,"message":"No."}}', status=403, kind="application/json"), 403, None),
    "failed after it began": (
        sends(chunk({"role": "assistant"}), chunk({}, error={"code": 403, "message": "No."})),
        403,
        counted(cost_estimated=True),
    ),
    "failed with a price": (
        sends(chunk({"role": "assistant"}), chunk({}, error={"code": 403, "message": "No."}, usage=FEW)),
        403,
        counted(**FEW),
    ),
}


@pytest.mark.parametrize("path", ["/v1", "/api/v1"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ANSWERS)
def test_one_attempt(start_app: StartApp, name: str, shape: str, path: str) -> None:
    """An answer and an HTTP error have the same usage; a rejected request cost nothing, and has none."""
    script, status, usage = ANSWERS[name]
    app, _ = start_app(script)
    response = ask(app, path, **SHAPES[shape])
    assert response.status_code == status, response.text
    assert usage_in(response) == usage


@pytest.mark.parametrize("shape", SHAPES)
def test_a_stream_that_is_cut(start_app: StartApp, shape: str) -> None:
    """The attempt did not report what it cost, so only the mark is known, in the last chunk or in the error."""
    app, _ = start_app(sends(chunk({"content": "So far"})))
    response = ask(app, **SHAPES[shape])
    assert response.status_code == (502 if shape == "whole" else 200)
    assert usage_in(response) == counted(cost_estimated=True)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_later_step_that_is_cut(start_app: StartApp, shape: str) -> None:
    """The cost of the first step is known: it is reported, and marked as incomplete."""
    first = calls_then(call_chunk("calculate", '{"expression":"1+1"}'), chunk({}, usage=FEW))
    app, _ = start_app(first, sends(chunk({"content": "So far"})))
    assert usage_in(ask(app, **SHAPES[shape])) == counted(**FEW, cost_estimated=True)
