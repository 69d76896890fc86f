"""Any request is answered or rejected in OpenAI's format, never an exception of the simulator."""

from random import Random
from typing import Any

import pytest
from signalbox.simulator.build_completion import build_completion
from signalbox.simulator.native.endpoint import Asked, NativeApi
from signalbox.simulator.native.errors import NativeError
from signalbox.simulator.native.openai.routes import CHAT, RESPONSES
from signalbox.simulator.native.prompt_cache import PromptCache
from starlette.requests import Request

from tests.unit.simulator.native.mutations import VALUES, Path, mutated, paths
from tests.unit.simulator.native.openai.conversation import ENCRYPTED, SUMMARY, native_tools
from tests.unit.simulator.requests import TOOLS

REQUEST = Request({"type": "http", "headers": [(b"authorization", b"Bearer any")]})
CALL = {"type": "function_call", "call_id": "call_1", "name": "calculate", "arguments": '{"expression": "1"}'}
RESPONSE: dict[str, Any] = {
    "model": "sim",
    "instructions": "Be brief.",
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "Hi"}, {"type": "input_image", "image_url": "x"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]},
        CALL,
        {"type": "function_call_output", "call_id": "call_1", "output": [{"type": "input_text", "text": "1"}]},
    ],
    "tools": native_tools(),
    "tool_choice": {"type": "function", "name": "calculate"},
    "text": {"format": {"type": "json_schema", "name": "a", "schema": {"type": "object"}, "strict": False}},
    "max_output_tokens": 500,
    "temperature": 1,
    "stream": True,
    "stream_options": {"include_obfuscation": True},
    "reasoning": SUMMARY,
    **ENCRYPTED,
}
CHATTED: dict[str, Any] = {
    "model": "sim",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "image_url", "image_url": {"url": "x"}}]},
        {
            "role": "assistant",
            "content": "x",
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "calculate", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "1"},
    ],
    "tools": TOOLS,
    "tool_choice": {"type": "function", "function": {"name": "calculate"}},
    "response_format": {"type": "json_object"},
    "max_completion_tokens": 500,
    "stop": ["x"],
    "temperature": 1,
    "logprobs": True,
    "top_logprobs": 2,
    "stream": True,
    "stream_options": {"include_usage": True},
    "reasoning_effort": "low",
}
MODELS = ("sim", "gpt-5-mini", "gpt-4o", "sim-parallel", "sim-steps-2")
APIS = {"responses": (RESPONSES, RESPONSE), "chat": (CHAT, CHATTED)}
PLACES = [(name, path) for name, (_, body) in APIS.items() for path in paths(body)]


def is_answered(api: NativeApi, body: dict[str, Any]) -> bool:
    """Return whether a request is answered; other exceptions than the API's errors pass through."""
    asked = accepted(api, body)
    if isinstance(asked, NativeError):
        assert list(asked.body["error"]) == ["message", "type", "param", "code"]
        return False
    return bool(api.write(build_completion(asked.incoming, 1), asked, PromptCache()).frames)


def accepted(api: NativeApi, body: dict[str, Any]) -> Asked | NativeError:
    """Return the accepted request, or the API's error."""
    try:
        return api.accept(REQUEST, body)
    except NativeError as error:
        return error


@pytest.mark.parametrize(("name", "path"), PLACES, ids=lambda place: str(place).replace(" ", ""))
def test_one_mutation(name: str, path: Path) -> None:
    """Each value is removed, and replaced by values of every type."""
    api, body = APIS[name]
    for value in VALUES:
        is_answered(api, mutated(body, path, value))


@pytest.mark.parametrize("name", APIS)
def test_several_mutations(name: str) -> None:
    """Random combinations of two mutations and a model; some are answered."""
    api, body = APIS[name]
    rng = Random(26)
    places = list(paths(body))
    assert is_answered(api, body)
    answered = 0
    for _ in range(300):
        first, second = sorted(rng.sample(places, 2), key=len)
        if second[: len(first)] == first or first[:-1] == second[:-1]:
            continue
        changed = mutated(mutated(body, second, rng.choice(VALUES)), first, rng.choice(VALUES))
        answered += is_answered(api, {**changed, "model": rng.choice(MODELS)})
    assert answered > 0
