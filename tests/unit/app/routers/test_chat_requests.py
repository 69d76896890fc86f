"""POST /api/chat/stream: accepted fields, and the request that the upstream receives."""

from typing import Any

import pytest

from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp, error_of
from tests.support.scripted_upstream import call_chunk, calls_then, says

ASK = {"model": "openai/sim", "messages": [{"role": "user", "content": "Hello!"}], "stream": True}
SCHEMA = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"enum": ["a", None], "default": None}}}
PARAMETERS: dict[str, Any] = {
    "max_tokens": 50,
    "temperature": 0.0,
    "top_p": 0.5,
    "top_k": 0,
    "min_p": 0.1,
    "top_a": 0.2,
    "frequency_penalty": -1.5,
    "presence_penalty": 1.5,
    "repetition_penalty": 1.1,
    "seed": 0,
    "logprobs": False,
    "top_logprobs": 2,
    "logit_bias": {"50256": -100, "text": 3},
    "response_format": SCHEMA,
    "stop": ["a,b", "\n\n"],
    "provider": {"order": ["openai"], "allow_fallbacks": False, "sort": None},
    "models": ["openai/a", "anthropic/b"],
    "metadata": {"who": "me"},
    "modalities": ["image", "text"],
    "reasoning": {"max_tokens": 100, "exclude": True},
}


def sent(start_app: StartApp, **body: Any) -> dict[str, Any]:
    """Ask with these fields; return the body that the upstream received."""
    app, upstream = start_app(says("Hello."))
    app.ask(**body)
    return upstream.asked[0].body


def test_nothing_is_added_to_a_bare_request(start_app: StartApp) -> None:
    """Without tools and parameters the upstream gets only model, messages and stream."""
    assert sent(start_app, tools=[]) == ASK


@pytest.mark.parametrize("name", PARAMETERS)
def test_each_parameter_is_forwarded_alone(start_app: StartApp, name: str) -> None:
    """Each parameter adds one field with its value unchanged, including zero, false and nested nulls."""
    assert sent(start_app, tools=[], **{name: PARAMETERS[name]}) == {**ASK, name: PARAMETERS[name]}


def test_all_parameters_are_forwarded_together(start_app: StartApp) -> None:
    """All parameters together arrive unchanged."""
    assert sent(start_app, tools=[], **PARAMETERS) == {**ASK, **PARAMETERS}


def test_a_parameter_of_null_counts_as_absent(start_app: StartApp) -> None:
    """A field that is null is not sent upstream."""
    assert sent(start_app, tools=[], **dict.fromkeys(PARAMETERS)) == ASK


def test_reasoning_effort_is_an_alias(start_app: StartApp) -> None:
    """The alias is sent as OpenRouter's field."""
    assert sent(start_app, tools=[], reasoning_effort="high") == {**ASK, "reasoning": {"effort": "high"}}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"reasoning": {"effort": "low"}, "reasoning_effort": "low"}, None),
        ({"reasoning": {"effort": "low", "max_tokens": 5}}, "reasoning"),
        ({"messages": [{"role": "user", "content": "x"}], "prompt": "y"}, None),
    ],
)
def test_two_ways_to_say_it_are_refused(app: RunningApp, body: dict[str, Any], field: str | None) -> None:
    """Effort and tokens, reasoning and its alias, messages and prompt exclude each other."""
    response = app.post(**{"prompt": "Hello!", **body} if "messages" not in body else body)
    assert response.status_code == 422
    error = error_of(response)
    assert error.get("field") == field
    assert "not both" in error["message"]


def test_prompt_and_system_become_messages(start_app: StartApp) -> None:
    """The short form is the long form."""
    assert sent(start_app, tools=[], system="Be brief.")["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello!"},
    ]


def test_image_and_file_parts_arrive_whole(start_app: StartApp) -> None:
    """Parts are forwarded with order, detail and data unchanged."""
    parts = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,BBBB"}},
    ]
    assert sent(start_app, tools=[], messages=[{"role": "user", "content": parts}])["messages"] == [
        {"role": "user", "content": parts}
    ]


def test_a_conversation_with_a_finished_call_goes_on(start_app: StartApp) -> None:
    """An earlier call and its result are sent with the same id, name and arguments."""
    call = {"id": "call_9", "type": "function", "function": {"name": "calculate", "arguments": '{"expression": "1+1"}'}}
    messages = [
        {"role": "user", "content": "1+1?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_9", "content": "2"},
        {"role": "assistant", "content": "2."},
        {"role": "user", "content": "Thanks. And 2+2?"},
    ]
    got = sent(start_app, tools=[], messages=messages)["messages"]
    assert [message["role"] for message in got] == ["user", "assistant", "tool", "assistant", "user"]
    assert got[1]["tool_calls"][0]["id"] == got[2]["tool_call_id"]
    assert got[1]["tool_calls"][0]["function"]["name"] == "calculate"
    assert got[2]["content"] == "2"


@pytest.mark.parametrize(
    ("tools", "names"),
    [
        ({}, ["calculate", "get_current_time", "read_url", "save_note", "search_web"]),
        ({"tools": []}, None),
        ({"tools": ["search_web", "calculate", "search_web"]}, ["calculate", "search_web"]),
    ],
)
def test_tools_are_offered_by_name(start_app: StartApp, tools: dict[str, Any], names: list[str] | None) -> None:
    """Absent: all tools; empty: none and no tool field; names: those tools, each once, in a stable order."""
    body = sent(start_app, **tools)
    assert [tool["function"]["name"] for tool in body.get("tools", [])] == (names or [])
    assert ("tools" in body) is (names is not None)
    assert "tool_choice" not in body
    assert "parallel_tool_calls" not in body


@pytest.mark.parametrize(
    "choice", ["auto", "none", "required", {"type": "function", "function": {"name": "calculate"}}]
)
def test_tool_choice_reaches_the_provider(start_app: StartApp, choice: Any) -> None:
    """Every choice arrives in the provider's format; `required` does not become auto (PS-02)."""
    assert sent(start_app, tool_choice=choice)["tool_choice"] == choice


def test_a_forced_tool_is_forced_once(start_app: StartApp) -> None:
    """After the forced call the choice is auto."""
    app, upstream = start_app(calls_then(call_chunk("calculate", '{"expression":"6*7"}')), says("42."))
    heard = app.ask("6*7?", tool_choice="required")
    assert heard.text == "42."
    assert [asked.body["tool_choice"] for asked in upstream.asked] == ["required", "auto"]


def test_guardrails_of_the_family_hold_on_every_request(start_app: StartApp) -> None:
    """xAI: one call at a time, no response_format beside tools, a warning that says so; also on the finalize."""
    app, upstream = start_app(calls_then(call_chunk("calculate", '{"expression":"6*7"}')), says("42."))
    heard = app.ask("6*7?", model="x-ai/grok-4", response_format={"type": "json_object"}, max_steps=2, temperature=1)
    assert heard.warnings[0] == "PARAM_DROPPED"
    assert "response_format" in heard.of("warning")[0]["message"]
    assert len(upstream.asked) == 2
    for asked in upstream.asked:
        assert asked.body["parallel_tool_calls"] is False
        assert "response_format" not in asked.body
        assert asked.body["temperature"] == 1
    assert upstream.asked[1].body["tool_choice"] == "none"


def test_json_without_tools_is_left_alone(start_app: StartApp) -> None:
    """Without tools nothing is dropped, also for xAI."""
    body = sent(start_app, model="x-ai/grok-4", tools=[], response_format={"type": "json_object"})
    assert body["response_format"] == {"type": "json_object"}
    assert "parallel_tool_calls" not in body


def test_claude_gets_one_call_at_a_time(start_app: StartApp) -> None:
    """Anthropic's guardrail is sent with tools."""
    assert sent(start_app, model="anthropic/claude-x")["parallel_tool_calls"] is False


def test_the_conversation_becomes_the_session(start_app: StartApp) -> None:
    """OpenRouter gets the conversation as session id, and the trace has it."""
    app, upstream = start_app(says("Hello."))
    response = app.post(prompt="Hello!", conversation_id="conv-1:a", tools=[])
    assert upstream.asked[0].body == {**ASK, "session_id": "conv-1:a"}
    assert app.client.get(f"/api/runs/{response.headers['x-run-id']}").json()["conversation_id"] == "conv-1:a"


def test_another_host_is_asked_in_its_own_words(start_app: StartApp) -> None:
    """A base URL that is not OpenRouter's gets stream_options, and neither session nor OpenRouter's headers."""
    app, upstream = start_app(says("Hello."), path="/v1")
    heard = app.ask(tools=[], conversation_id="c")
    assert upstream.asked[0].body == {**ASK, "stream_options": {"include_usage": True}}
    assert upstream.asked[0].path == "/v1/chat/completions"
    assert not [name for name in upstream.asked[0].headers if name.startswith(("x-", "http-referer", "authorization"))]
    assert "simulated" not in heard.done


def test_openrouter_gets_attribution_and_metadata(start_app: StartApp) -> None:
    """Title, referer and the metadata switch go out as headers, and no gzip is asked for."""
    app, upstream = start_app(says("Hello."), settings={"openrouter_http_referer": "https://example.org"})
    app.ask()
    headers = upstream.asked[0].headers
    assert headers["x-openrouter-metadata"] == "enabled"
    assert headers["x-openrouter-title"] == "Signalbox"
    assert headers["http-referer"] == "https://example.org"
    assert headers["accept-encoding"] == "identity"
    assert "authorization" not in headers


def test_the_hint_joins_the_words_of_the_finalize(start_app: StartApp) -> None:
    """`finalize_hint` is sent only in the finalize step."""
    app, upstream = start_app(calls_then(call_chunk("calculate", '{"expression":"6*7"}')), says("42."))
    app.ask("6*7?", max_steps=2, finalize_hint="Answer in Latin.")
    assert "Latin" not in upstream.asked[0].raw.decode()
    assert "Latin" in upstream.asked[1].body["messages"][0]["content"]


def test_one_step_is_a_finalize_at_once(start_app: StartApp) -> None:
    """With max_steps 1 the only model call must answer: tools are sent with choice none."""
    app, upstream = start_app(says("Hello."))
    assert app.ask(max_steps=1).done["steps"] == 1
    assert upstream.asked[0].body["tool_choice"] == "none"


@pytest.mark.parametrize("steps", [0, 51, -1, 2.5, "3", True])
def test_max_steps_is_bounded(app: RunningApp, steps: Any) -> None:
    """1 to 50, an integer."""
    response = app.post(prompt="Hello!", max_steps=steps)
    assert (response.status_code, error_of(response)["field"]) == (422, "max_steps")


def test_a_prompt_of_300_000_characters_works(start_app: StartApp) -> None:
    """A long prompt streams normally and arrives complete (PS-01)."""
    prompt = "æ long prompt " * 21_429
    assert len(prompt) > 300_000
    assert sent(start_app, prompt=prompt, tools=[])["messages"][0]["content"] == prompt


def test_get_answers_405_with_a_sentence(app: RunningApp) -> None:
    """A browser that opens the address gets a sentence, also with a built page."""
    response = app.client.get("/api/chat/stream")
    assert response.status_code == 405
    assert response.headers["allow"] == "POST"
    error = error_of(response)
    assert error["code"] == "METHOD_NOT_ALLOWED"
    assert "POST" in error["message"]


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/api/models"), ("PUT", "/api/runs"), ("GET", "/api/runs/x/stop")]
)
def test_other_routes_name_their_method_too(app: RunningApp, method: str, path: str) -> None:
    """A wrong method is a 405, not a 404."""
    response = app.client.request(method, path)
    assert (response.status_code, error_of(response)["code"]) == (405, "METHOD_NOT_ALLOWED")


@pytest.mark.parametrize("path", ["/api/nothing", "/health/none", "/nothing.html"])
def test_an_unknown_address_is_a_404(app: RunningApp, path: str) -> None:
    """An unknown path is an error in the same format."""
    response = app.client.get(path)
    assert (response.status_code, error_of(response)["code"]) == (404, "NOT_FOUND")


def test_unknown_fields_are_all_named(app: RunningApp) -> None:
    """Every unknown field is in the message."""
    response = app.post(prompt="Hello!", temprature=1, users="me", max_token=5)
    assert response.status_code == 422
    error = error_of(response)
    assert error["code"] == "UNKNOWN_FIELD"
    assert error["field"] == "temprature"
    assert error["message"].startswith("The request has fields that do not exist: temprature, users, max_token.")
