"""Random requests give a finished run or a well-formed error, never a 5xx."""

import json
from typing import Any
from urllib.parse import quote

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from signalbox.intakes.v1_schema import ChatRequest

from tests.support.running_app import RunningApp, error_of
from tests.support.stream_reader import check_stream

FIELDS = list(ChatRequest.model_fields)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=-(2**80), max_value=2**80),
    st.floats(allow_nan=True, allow_infinity=True),
    st.text(max_size=20),
    st.sampled_from(["", " ", "\ud800", "\x00", "user", "text", "calculate", "openai/sim", "auto", "none", "function"]),
)
KEYS = st.sampled_from(
    ["role", "content", "type", "text", "tool_calls", "id", "function", "name", "arguments", "url", "effort", "x"]
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=8,
)
TEXT = st.text(max_size=10) | st.sampled_from(["{}", "[", '{"expression": "1+1"}'])
PART = st.fixed_dictionaries({"type": st.sampled_from(["text", "image_url", "file"])}, optional={"text": TEXT | JSON})
CONTENT = st.one_of(TEXT, st.none(), st.lists(PART | JSON, max_size=3))
CALL = st.fixed_dictionaries(
    {"id": st.sampled_from(["a", "b", ""]), "function": st.fixed_dictionaries({"name": TEXT, "arguments": TEXT | JSON})}
)
MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "developer", "user", "assistant", "tool", "robot"]), "content": CONTENT},
    optional={"tool_calls": st.none() | st.lists(CALL, max_size=3), "tool_call_id": st.sampled_from(["a", "b", "c"])},
)
STRAY = st.fixed_dictionaries(
    {"model": st.just("openai/sim") | JSON},
    optional={
        **{name: JSON for name in FIELDS if name != "model"},
        "prompt": TEXT,
        "messages": st.lists(MESSAGE, max_size=5),
        "stranger": JSON,
    },
)
# Valid requests with odd contents: they must be accepted and finish.
HISTORY = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["system", "developer", "user", "assistant"]), "content": TEXT})
    | st.fixed_dictionaries({"role": st.just("assistant"), "tool_calls": st.lists(CALL, min_size=1, max_size=3)})
    | st.fixed_dictionaries({"role": st.just("tool"), "tool_call_id": st.sampled_from(["a", "b"]), "content": TEXT}),
    max_size=4,
).map(lambda said: [*said, {"role": "user", "content": "What is 6 * 7?"}])
SOUND = st.fixed_dictionaries(
    {"model": st.sampled_from(["openai/sim", "anthropic/sim", "mistralai/sim", "x-ai/sim", "google/sim"])},
    optional={
        "max_steps": st.integers(1, 4),
        "max_searches": st.integers(0, 3),
        "temperature": st.floats(0, 2),
        "seed": st.integers(0, 2**63 - 1),
        "stop": st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=3),
        "reasoning_effort": st.sampled_from(["none", "low", "high"]),
        "tools": st.lists(st.sampled_from(["calculate", "search_web", "get_current_time"]), max_size=3),
        "tool_choice": st.sampled_from(["auto", "none"]),
        "response_format": st.just({"type": "json_object"}),
        "modalities": st.just(["text"]),
        "finalize_hint": st.text(max_size=10),
        "conversation_id": st.from_regex(r"[a-z0-9]{1,8}", fullmatch=True),
    },
)
BODY = st.one_of(JSON, STRAY)
ASKED = st.one_of(
    st.tuples(SOUND, HISTORY).map(lambda pair: {**pair[0], "messages": pair[1]}),
    st.tuples(SOUND, st.text(min_size=1, max_size=50)).map(lambda pair: {**pair[0], "prompt": pair[1]}),
)
QUICKLY = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def post(app: RunningApp, content: bytes) -> None:
    """Send a body; check that the response is a finished run or a well-formed error."""
    response = app.client.post("/api/chat/stream", content=content)
    if response.status_code == 200:
        heard = check_stream(response.content)
        assert heard.done.get("code") != "INTERNAL", content
        assert heard.done["code"] in ("UPSTREAM_REJECTED", "LENGTH") if "code" in heard.done else True, (
            content,
            heard.done,
        )
        return
    assert 400 <= response.status_code < 500, (content, response.text)
    error_of(response)


@QUICKLY
@given(body=BODY)
def test_any_json(app: RunningApp, body: Any) -> None:
    """Random JSON, close to the schema and far from it."""
    post(app, json.dumps(body).encode())


@QUICKLY
@given(body=ASKED)
def test_any_sound_request(app: RunningApp, body: Any) -> None:
    """Requests that fit the schema, with odd texts, histories and limits, are rejected with a reason or finish."""
    post(app, json.dumps(body).encode())


@QUICKLY
@given(body=st.binary(max_size=200))
def test_any_bytes(app: RunningApp, body: bytes) -> None:
    """Random bytes."""
    post(app, body)


@QUICKLY
@given(
    path=st.sampled_from(["/api/runs/{}", "/api/runs/{}/events", "/api/runs?limit={}", "/api/runs/x/events?after={}"]),
    piece=st.text(alphabet=st.characters(codec="utf-8", exclude_characters="/?#\\"), max_size=20),
    last=st.binary(max_size=30).filter(lambda raw: not set(raw) & {0, 10, 13}),
)
def test_any_address_and_cursor(app: RunningApp, path: str, piece: str, last: bytes) -> None:
    """Random ids, limits, cursors and Last-Event-IDs."""
    headers = [(b"last-event-id", last.strip(b" \t"))] if last.isascii() and last.decode().isprintable() else []
    response = app.client.get(path.format(quote(piece)), headers=headers)
    assert response.status_code < 500
