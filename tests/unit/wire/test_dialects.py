"""The table of dialects: which one a base URL selects, and what each sends besides the body."""

import json

import pytest
from msgspec.structs import replace
from signalbox.core.messages import UserMessage
from signalbox.core.params import Params, Reasoning, Routing
from signalbox.core.parts import Request
from signalbox.wire.dialect import Dialect, Upstream
from signalbox.wire.dialects import DIALECTS, dialect_at, upstream_at

REQUEST = Request("openai/sim", (UserMessage("Hello!"),), session_id="s-1")


@pytest.mark.parametrize(
    ("base_url", "name"),
    [
        ("https://openrouter.ai/api/v1", "openrouter-chat"),
        ("https://proxy.example/openrouter/api/v1/", "openrouter-chat"),
        ("https://api.openai.com/v1", "openai-chat"),
        ("http://127.0.0.1:11434/v1", "openai-chat"),
        ("https://openrouter.ai", "openai-chat"),
        ("https://generativelanguage.googleapis.com/", "gemini"),
        ("https://api.anthropic.com/", "anthropic-messages"),
        ("https://api.minimax.io/anthropic", "anthropic-messages"),
    ],
)
def test_a_base_url_names_its_dialect(base_url: str, name: str) -> None:
    """The path decides, with or without a slash at its end."""
    assert dialect_at(base_url) is DIALECTS[name]


def test_only_openrouter_gets_openrouters_headers() -> None:
    """A compatible server gets the key; OpenRouter gets the application's name and address as well."""
    given = {"referer": "https://me.example", "title": "Me"}
    compatible = upstream_at("http://127.0.0.1/v1", "key", **given)
    assert compatible.dialect.headers_of(compatible) == {"authorization": "Bearer key"}
    routed = upstream_at("https://openrouter.ai/api/v1", "key", **given)
    assert routed.dialect.headers_of(routed) == {
        "authorization": "Bearer key",
        "x-openrouter-metadata": "enabled",
        "http-referer": "https://me.example",
        "x-openrouter-title": "Me",
    }


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_without_a_key_there_is_no_header(dialect: Dialect) -> None:
    """A server without a key gets none, in every dialect."""
    upstream = Upstream(dialect, "http://127.0.0.1")
    assert not {"authorization", "x-api-key"} & set(upstream.dialect.headers_of(upstream))


@pytest.mark.parametrize(("name", "keys"), [("openrouter-chat", {"session_id"}), ("openai-chat", {"stream_options"})])
def test_each_dialect_requests_usage(name: str, keys: set[str]) -> None:
    """OpenRouter gets the session; other servers are asked for the usage of a stream."""
    body = json.loads(DIALECTS[name].body_of(REQUEST, stream=True))
    assert set(body) - {"model", "messages", "stream"} == keys


def test_only_openrouter_has_accounts_and_bills() -> None:
    """What a dialect does not have is None, and is then never requested."""
    assert {name for name, dialect in DIALECTS.items() if dialect.account or dialect.bill} == {"openrouter-chat"}


def test_rows_have_their_names() -> None:
    """A row is found under the name that it states."""
    assert {dialect.name for dialect in DIALECTS.values()} == set(DIALECTS)


@pytest.mark.parametrize(
    ("model", "listed"),
    [
        ("a/b", "a/b"),
        ("a/b:free", "a/b"),
        ("llama3:8b", "llama3"),
        (":x", ":x"),
        ("a/b:", "a/b:"),
        ("@preset/mine", None),
    ],
)
def test_the_catalogue_lists_models_without_their_routing(model: str, listed: str | None) -> None:
    """A suffix that chooses the routing is no part of the listed id; presets are not listed."""
    assert {DIALECTS[name].listed_id(model) for name in ("openrouter-chat", "openai-chat")} == {listed}


ALL_PARAMS = Params(
    temperature=0.5,
    top_k=40,
    min_p=0.1,
    top_a=0.2,
    repetition_penalty=1.1,
    routing=Routing({"order": ["a"]}),
    fallbacks=("b/c",),
    reasoning=Reasoning(effort="low"),
    extra={"guided_regex": "a+"},
)


def test_only_openrouter_gets_its_parameters() -> None:
    """A compatible server has no field for routing, fallback models and `top_a`; unlisted fields pass."""
    compatible, routed = DIALECTS["openai-chat"], DIALECTS["openrouter-chat"]
    assert routed.unsupported_params(ALL_PARAMS) == frozenset()
    unsupported = compatible.unsupported_params(ALL_PARAMS)
    assert unsupported == {"routing", "fallbacks", "top_a"}
    left = ALL_PARAMS.changed(**dict.fromkeys(unsupported))
    body = json.loads(compatible.body_of(replace(REQUEST, params=left), stream=False))
    assert {name: value for name, value in body.items() if name not in ("model", "messages", "stream")} == {
        "temperature": 0.5,
        "top_k": 40,
        "min_p": 0.1,
        "repetition_penalty": 1.1,
        "reasoning_effort": "low",
        "guided_regex": "a+",
    }


@pytest.mark.parametrize(
    ("reasoning", "effort"),
    [(Reasoning(effort="high", exclude=True), "high"), (Reasoning(enabled=False), "none"), (Reasoning(), None)],
)
def test_a_compatible_server_gets_only_the_effort(reasoning: Reasoning, effort: str | None) -> None:
    """OpenAI has only `reasoning_effort`; reasoning without an effort is not sent."""
    compatible, params = DIALECTS["openai-chat"], Params(reasoning=reasoning)
    assert ("reasoning" in compatible.unsupported_params(params)) is (effort is None)
    if effort is not None:
        body = json.loads(compatible.body_of(replace(REQUEST, params=params), stream=False))
        assert (body["reasoning_effort"], "reasoning" in body) == (effort, False)


def test_openrouter_gets_the_reasoning_object() -> None:
    """OpenRouter takes effort, budget and what is shown in one object."""
    params = Params(reasoning=Reasoning(max_tokens=2048, exclude=True))
    body = json.loads(DIALECTS["openrouter-chat"].body_of(replace(REQUEST, params=params), stream=False))
    assert body["reasoning"] == {"max_tokens": 2048, "exclude": True}
