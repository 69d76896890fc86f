"""`cache_control` of content parts reaches OpenRouter, whose providers cache the prompt up to it."""

from typing import Any

from tests.support.fixtures import StartApp
from tests.support.scripted_upstream import says

MARK = {"type": "ephemeral", "ttl": "1h"}
IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
CALL = {"id": "c1", "type": "function", "function": {"name": "price", "arguments": "{}"}}
TOOL = {"type": "function", "function": {"name": "price"}}


def marked(text: str, **fields: Any) -> dict[str, Any]:
    """Return a text part with a mark."""
    return {"type": "text", "text": text, "cache_control": MARK, **fields}


MESSAGES = [
    {"role": "system", "content": [{"type": "text", "text": "Be brief."}, marked("A long handbook.")]},
    {"role": "user", "content": [{**IMAGE, "cache_control": MARK}, {"type": "text", "text": "What does it cost?"}]},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "3"}, marked("euros")]},
    {"role": "user", "content": [marked("And two?")]},
]


def test_openrouter_gets_the_marks(start_app: StartApp) -> None:
    """On parts of system, user and tool messages; a result with a mark is sent as a part."""
    app, upstream = start_app(says("6."))
    body = {"model": "anthropic/sim", "messages": MESSAGES, "tools": [TOOL]}
    answer = app.client.post("/v1/chat/completions", json=body)
    assert answer.status_code == 200, answer.text
    [asked] = [one for one in upstream.asked if one.method == "POST"]
    system, user, result, last = (one for one in asked.body["messages"] if one["role"] != "assistant")
    assert system["content"][1] == marked("A long handbook.")
    assert user["content"][0] == {**IMAGE, "cache_control": MARK}
    assert [part.get("cache_control") for part in result["content"]] == [MARK]
    assert "euros" in result["content"][0]["text"]
    assert last["content"] == [marked("And two?")]


def test_a_conversation_keeps_the_marks(start_app: StartApp) -> None:
    """The history of a stored conversation is the same prompt, so it must be marked at the same places."""
    app, upstream = start_app(says("6."), says("8."))
    conversation = app.client.post("/api/conversations", json={}).json()["id"]
    for content in ([marked("How many legs has an ant?")], "And a spider?"):
        body = {"model": "anthropic/sim", "messages": [{"role": "user", "content": content}]}
        answer = app.client.post("/v1/chat/completions", json=body, headers={"x-conversation-id": conversation})
        assert answer.status_code == 200, answer.text
    asked = [one for one in upstream.asked if one.method == "POST"][-1]
    assert marked("How many legs has an ant?") in asked.body["messages"][0]["content"]


def test_other_upstreams_get_none(start_app: StartApp) -> None:
    """OpenAI-compatible servers do not know the field, and some reject it."""
    app, upstream = start_app(says("6."), path="/v1")
    body = {"model": "llama3.2", "messages": MESSAGES, "tools": [TOOL]}
    assert app.client.post("/v1/chat/completions", json=body).status_code == 200
    [asked] = [one for one in upstream.asked if one.method == "POST"]
    assert "cache_control" not in str(asked.body)
    [result] = [one for one in asked.body["messages"] if one["role"] == "tool"]
    assert isinstance(result["content"], str)
