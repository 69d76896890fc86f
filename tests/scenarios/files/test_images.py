"""Images that tools draw with a model: files of the conversation, whose cost belongs to the run."""

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from tests.scenarios.conversations.conversation_client import ConversationClient, start_conversation
from tests.scenarios.files.file_writer import done
from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp, error_of, read_until, settings_for
from tests.support.scripted_upstream import DONE, Exchange, Script, call_chunk, calls_then, chunk, sends

PNG = b"\x89PNG\r\n\x1a\n and more"
URL = f"data:image/png;base64,{b64encode(PNG).decode()}"
MODEL = {"signalbox_image_model": "google/draws"}


def wants(name: str = "generate_images", **arguments: Any) -> Script:
    """Make a script that calls a tool."""
    return calls_then(call_chunk(name, json.dumps(arguments)))


def draws(cost: float | None = 0.04) -> Script:
    """Make a script that sends an image."""
    image = chunk({"images": [{"type": "image_url", "image_url": {"url": URL}}]})
    usage = {} if cost is None else {"usage": {"prompt_tokens": 5, "completion_tokens": 1290, "cost": cost}}
    return sends(image, chunk({}, finish="stop", **usage), DONE)


def sentence(text: str) -> Script:
    """Make a script that answers in words instead."""
    return sends(chunk({"content": text}), chunk({}, finish="stop"), DONE)


def result_of(talk: ConversationClient, **body: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Ask for an image; return the result of the call, and the end of the run."""
    heard = talk.ask("Draw", tools=["generate_images", "edit_image", "remove_background"], **body).heard
    (result,) = heard.of("tool_result")
    return result, heard.done


def test_sc_09_images_are_files_and_their_cost_is_the_runs(start_app: StartApp) -> None:
    """The image is served as a file; `done` and the trace contain the cost of its request."""
    talk = start_conversation(
        start_app, wants(prompts=["A red fox"], aspect_ratio="16:9"), draws(), done, settings=MODEL
    )
    result, end = result_of(talk)
    assert result["result"]["result"] == {"images": [{"prompt": "A red fox", "path": "images/a-red-fox.png"}]}
    assert end["cost"] == pytest.approx(0.04)
    assert end["steps"] == 2
    asked = talk.upstream.asked[1].body
    assert (asked["model"], asked["modalities"]) == ("google/draws", ["image", "text"])
    assert asked["image_config"] == {"aspect_ratio": "16:9"}
    assert asked["messages"][0]["content"] == "A red fox\n\nAspect ratio: 16:9."
    assert "tools" not in asked
    (run,) = [one for one in talk.tree()["messages"] if one["role"] == "assistant"]
    trace = talk.app.client.get(f"/api/runs/{run['id']}").json()
    assert trace["cost"] == pytest.approx(0.04)
    assert [one.get("tool_call") for one in trace["attempts"]] == [None, trace["tools"][0]["id"], None]


def test_sc_12_an_image_is_sent_back_for_changes(start_app: StartApp) -> None:
    """edit_image sends the stored image to the model."""
    talk = start_conversation(
        start_app,
        *(wants(prompts=["fox"]), draws(), done),
        *(wants("edit_image", prompt="Blue", paths=["images/fox.png"]), draws(), done),
        settings=MODEL,
    )
    result_of(talk)
    result, _ = result_of(talk)
    assert result["result"]["result"] == {"images": [{"prompt": "Blue", "path": "images/blue.png"}]}
    content = talk.upstream.asked[4].body["messages"][0]["content"]
    assert content == [{"type": "text", "text": "Blue"}, {"type": "image_url", "image_url": {"url": URL}}]


@pytest.mark.parametrize(
    ("script", "code", "words"),
    [
        (sentence("I cannot draw."), "TOOL_FAILED", "The image model returned no image."),
        (sends(chunk({}, finish="content_filter"), DONE), "CONTENT_FILTER", ""),
        (sends(b'{"error":{"code":401,"message":"No"}}', status=401), "UPSTREAM_AUTH", ""),
    ],
)
def test_sc_09_a_failed_image_is_a_failed_result(start_app: StartApp, script: Script, code: str, words: str) -> None:
    """The run continues, and the model can say so."""
    talk = start_conversation(start_app, wants(prompts=["fox"]), script, done, settings=MODEL)
    result, end = result_of(talk)
    assert result["result"]["success"] is False
    assert result["result"]["code"] == code
    assert words in result["result"]["error"]
    assert end["status"] == "complete"


def test_a_failed_request_is_repeated_once(start_app: StartApp) -> None:
    """Only if a repetition can help."""
    busy = sends(b'{"error":{"code":429,"message":"Slow down"}}', status=429, retry_after="0")
    talk = start_conversation(start_app, wants(prompts=["fox"]), busy, draws(), done, settings=MODEL)
    result, end = result_of(talk)
    assert result["result"]["success"] is True
    assert end["cost"] == pytest.approx(0.04)


def test_the_cost_limit_holds_for_images(start_app: StartApp) -> None:
    """The call gets an error before a request is sent, if the limit does not allow it."""
    entry = {"id": "openai/sim", "supported_parameters": ["tools"], "pricing": {"prompt": "0", "completion": "0"}}
    drawer = {"id": "google/draws", "pricing": {"prompt": "0", "completion": "0.0001"}}
    listing = sends(json.dumps({"data": [entry, drawer]}).encode(), kind="application/json")
    talk = start_conversation(start_app, wants(prompts=["fox"]), done, models=listing, settings=MODEL)
    result, _ = result_of(talk, max_cost=0.1)
    assert result["result"]["code"] == "BUDGET_REACHED"
    assert len(talk.upstream.asked) == 2


def test_an_unreported_cost_is_estimated(start_app: StartApp) -> None:
    """From the prices of the catalogue."""
    entry = {"id": "openai/sim", "supported_parameters": ["tools"], "pricing": {"prompt": "0", "completion": "0"}}
    drawer = {"id": "google/draws", "pricing": {"prompt": "0", "completion": "0.0001"}}
    listing = sends(json.dumps({"data": [entry, drawer]}).encode(), kind="application/json")
    talk = start_conversation(start_app, wants(prompts=["fox"]), draws(cost=None), done, models=listing, settings=MODEL)
    _, end = result_of(talk)
    assert end["cost"] == pytest.approx(0.13)
    assert end["cost_estimated"] is True


def test_a_stop_closes_the_requests_for_images(start_app: StartApp) -> None:
    """Both requests end at the upstream."""

    async def holds(exchange: Exchange) -> None:
        await exchange.head()
        await exchange.client_left()

    talk = start_conversation(start_app, wants(prompts=["fox", "owl"]), holds, settings=MODEL)
    body = {"model": "openai/sim", "prompt": "Draw", "conversation_id": "talk-1", "tools": ["generate_images"]}
    with talk.app.client.stream("POST", "/api/chat/stream", json=body) as response:
        chunks = response.iter_raw()  # without a reference, the response would be closed
        read_until(chunks, b"tool_executing")
        assert talk.upstream.wait_until(lambda: len(talk.upstream.asked) == 3)
        assert talk.app.client.post(f"/api/runs/{response.headers['x-run-id']}/stop").status_code == 200
        assert talk.upstream.wait_until(lambda: len(talk.upstream.left) == 2)


def test_sc_12_without_an_image_model_the_tools_are_not_offered(start_app: StartApp) -> None:
    """A request that names one is rejected with the reason."""
    app, _ = start_app(done)
    tools = {one["name"]: one for one in app.client.get("/api/tools").json()["tools"]}
    assert "SIGNALBOX_IMAGE_MODEL" in tools["generate_images"]["unavailable"]
    body = {"model": "openai/sim", "prompt": "Draw", "conversation_id": "talk-1", "tools": ["generate_images"]}
    response = app.client.post("/api/chat/stream", json=body)
    assert response.status_code == 422
    assert "SIGNALBOX_IMAGE_MODEL" in error_of(response)["message"]


def test_an_unknown_image_model(start_app: StartApp) -> None:
    """The error says which setting is wrong."""
    listing = sends(json.dumps({"data": [{"id": "openai/sim"}]}).encode(), kind="application/json")
    talk = start_conversation(start_app, wants(prompts=["fox"]), done, models=listing, settings=MODEL)
    result, _ = result_of(talk)
    assert result["result"]["code"] == "TOOL_UNAVAILABLE"
    assert "SIGNALBOX_IMAGE_MODEL" in result["result"]["error"]


def test_sc_09_without_a_key_the_simulator_draws(tmp_path: Path) -> None:
    """The whole flow works without a setting."""
    with RunningApp(settings_for(tmp_path, openrouter_base_url="https://openrouter.ai/api/v1")) as app:
        body = {"model": "openai/sim", "conversation_id": "talk-1", "tools": ["generate_images"]}
        heard = app.ask('Use generate_images {"prompts": ["A red fox", "An owl"]}', **body)
        (result,) = heard.of("tool_result")
        assert [one["path"] for one in result["result"]["result"]["images"]] == [
            "images/a-red-fox.png",
            "images/an-owl.png",
        ]
        assert heard.done["cost"] > 0.001
