"""Random requests of the page protocols give a finished stream or a well-formed error, never a 5xx (ME-01)."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from signalbox.intakes.ag_ui_schema import RunAgentInput
from signalbox.intakes.ai_sdk_schema import AiSdkRequest
from signalbox.intakes.assistant_ui_schema import AssistantRequest

from tests.scenarios.bad_input.test_fuzz import SCALARS
from tests.support.ag_ui_client import AgUiReader
from tests.support.assistant_client import state_after
from tests.support.running_app import RunningApp, error_of
from tests.support.ui_message import UiMessageReader

ID = st.sampled_from(["m1", "m2", "f" * 32, f"call_{'a' * 32}_abcdefghi", "__optimistic__1", "", "x" * 201, "\ud800"])
KEYS = st.sampled_from(
    ["type", "role", "parts", "text", "message", "content", "id", "toolCallId", "toolName", "result", "name", "x"]
)
ANY = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=6,
)
TEXT = st.text(max_size=10)
TOOL = st.fixed_dictionaries({"name": st.sampled_from(["clock", "a b", ""])}, optional={"parameters": ANY})
PART = st.one_of(
    st.fixed_dictionaries({"type": st.just("text"), "text": TEXT | ANY}),
    st.fixed_dictionaries({"type": st.just("image"), "image": st.sampled_from(["data:image/png;base64,AA", "x"])}),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["file", "tool-clock", "reasoning", "image"])}, optional={"url": ANY}
    ),
    ANY,
)
USER = st.fixed_dictionaries(
    {"role": st.just("user")}, optional={"parts": st.lists(PART, max_size=3), "content": TEXT | ANY, "id": ID}
)
COMMAND = st.one_of(
    st.fixed_dictionaries({"type": st.just("add-message"), "message": USER | ANY}, optional={"parentId": ID | ANY}),
    st.fixed_dictionaries(
        {"type": st.just("add-tool-result"), "toolCallId": ID},
        optional={"toolName": ID, "result": ANY, "artifact": ANY, "isError": ANY, "modelContent": ANY},
    ),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["reload", "switch-branch", "edit", "x", ""])}, optional={"parentId": ID}
    ),
    ANY,
)
MESSAGE = st.one_of(
    USER,
    st.fixed_dictionaries(
        {"role": st.sampled_from(["assistant", "tool", "system", "developer", "activity", "robot"]), "id": ID},
        optional={
            "content": TEXT | ANY,
            "parts": st.lists(PART, max_size=3),
            "toolCallId": ID,
            "toolCalls": st.lists(ANY, max_size=2),
        },
    ),
    ANY,
)


@dataclass(frozen=True)
class Fuzzed:
    """A page protocol: its schema, random values of its main fields, a reader of streams, a check of errors."""

    path: str
    schema: type[BaseModel]
    fields: dict[str, st.SearchStrategy[Any]]
    read: Callable[[bytes], object]
    check_error: Callable[[httpx.Response], object] = error_of


def check_sentence(response: httpx.Response) -> None:
    """Check an error of the AI SDK, which is a sentence."""
    assert response.headers["content-type"] == "text/plain; charset=utf-8"
    assert response.text.endswith((".", "?"))
    assert "Traceback" not in response.text


FUZZED = (
    Fuzzed(
        "/assistant",
        AssistantRequest,
        {"commands": st.lists(COMMAND, max_size=3), "tools": st.dictionaries(KEYS, TOOL, max_size=2), "threadId": ID},
        lambda stream: state_after(stream.decode().split("\n")[:-1]),
    ),
    Fuzzed(
        "/agui",
        RunAgentInput,
        {
            "messages": st.lists(MESSAGE, max_size=4),
            "tools": st.lists(TOOL | ANY, max_size=2),
            "threadId": ID,
            "runId": ID,
            "forwardedProps": st.fixed_dictionaries({"model": st.just("openai/sim")}, optional={"tools": ANY}) | ANY,
        },
        lambda stream: AgUiReader([]).read_stream(stream),
    ),
    Fuzzed(
        "/api/ai/chat",
        AiSdkRequest,
        {
            "messages": st.lists(MESSAGE, max_size=4),
            "id": ID,
            "trigger": st.sampled_from(["submit-message", "regenerate-message", "x"]),
        },
        lambda stream: UiMessageReader().read_stream(stream),
        check_sentence,
    ),
)
QUICKLY = settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def names_of(schema: type[BaseModel]) -> list[str]:
    """Return the names of a schema's fields in JSON."""
    return [field.alias or name for name, field in schema.model_fields.items()]


@pytest.mark.parametrize("fuzzed", FUZZED, ids=lambda fuzzed: fuzzed.path)
@QUICKLY
@given(data=st.data())
def test_any_request_of_a_page(app: RunningApp, fuzzed: Fuzzed, data: st.DataObject) -> None:
    """Random JSON close to the schema is rejected with a reason, or its stream can be read to the end."""
    others = {name: ANY for name in names_of(fuzzed.schema) if name not in fuzzed.fields}
    chosen = data.draw(st.fixed_dictionaries({}, optional=others), label="other fields")
    body = {"model": "openai/sim", **chosen, **data.draw(st.fixed_dictionaries(fuzzed.fields), label="fields")}
    response = app.client.post(fuzzed.path, content=json.dumps(body).encode())
    if response.status_code == 200:
        fuzzed.read(response.content)
    else:
        assert 400 <= response.status_code < 500, (body, response.text)
        fuzzed.check_error(response)


@pytest.mark.parametrize("fuzzed", FUZZED, ids=lambda fuzzed: fuzzed.path)
@QUICKLY
@given(body=st.binary(max_size=100))
def test_any_bytes_of_a_page(app: RunningApp, fuzzed: Fuzzed, body: bytes) -> None:
    """Random bytes are rejected with a reason."""
    response = app.client.post(fuzzed.path, content=body)
    assert 400 <= response.status_code < 500
    fuzzed.check_error(response)
