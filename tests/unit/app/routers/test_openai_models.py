"""GET /v1/models: the catalogue as clients of OpenAI and OpenRouter read it."""

import json
from typing import Any

import pytest
from openrouter.components import ModelsListResponse

from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp, error_of, openai_error_of
from tests.support.scripted_upstream import Exchange, Script, says

PATHS = ("/v1/models", "/api/v1/models")


def lists(*models: dict[str, Any]) -> Script:
    """Make the script of an upstream that lists these models."""

    async def script(exchange: Exchange) -> None:
        await exchange.whole(200, json.dumps({"object": "list", "data": models}).encode())

    return script


@pytest.mark.parametrize("path", PATHS)
def test_the_list_is_openais_and_openrouters(app: RunningApp, path: str) -> None:
    """OpenAI's four fields on every model, and the rest as OpenRouter's own client parses it."""
    answer = app.client.get(path)
    body = answer.json()
    assert body["object"] == "list"
    for model in body["data"]:
        assert {name: type(model[name]) for name in ("id", "object", "created", "owned_by")} == {
            "id": str,
            "object": str,
            "created": int,
            "owned_by": str,
        }
    found = next(one for one in body["data"] if one["id"] == "openai/sim")
    assert (found["object"], found["owned_by"]) == ("model", "openai")
    parsed = ModelsListResponse.model_validate(body)
    assert parsed.total_count == len(parsed.data) == len(body["data"])
    one = next(one for one in parsed.data if one.id == "google/sim")
    assert (one.name, one.context_length, one.pricing.prompt) == ("Google: Simulated", 1_048_576, "0.0000005")
    assert one.architecture.input_modalities == ["text", "image"]
    assert "tools" in one.supported_parameters


def test_the_list_has_what_is_offered_for_selection(app: RunningApp) -> None:
    """As the page's own list: models that are requested by name only are left out."""
    offered = [one["id"] for one in app.client.get("/api/models?hidden=false").json()["models"]]
    assert [one["id"] for one in app.client.get("/v1/models").json()["data"]] == offered


@pytest.mark.parametrize("path", PATHS)
def test_pages_are_parts_of_the_list(app: RunningApp, path: str) -> None:
    """OpenRouter's client always sends an offset, and asks for the next page until one is empty."""
    models = app.client.get(path).json()["data"]
    first, rest, none = (
        app.client.get(path + query).json() for query in ("?offset=0&limit=2", "?offset=2", "?offset=999")
    )
    assert (first["data"], rest["data"], none["data"]) == (models[:2], models[2:], [])
    assert {page["total_count"] for page in (first, rest, none)} == {len(models)}
    for query in ("?offset=-1", "?limit=0", "?limit=x", "?page=2"):
        assert openai_error_of(app.client.get(path + query))["type"] == "invalid_request_error"


def test_an_unchanged_list_is_a_304(app: RunningApp) -> None:
    """Plain and compressed responses have the same tag and content."""
    plain = app.client.get("/v1/models", headers={"accept-encoding": "identity"})
    packed = app.client.get("/v1/models", headers={"accept-encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.content == plain.content
    tag = plain.headers["etag"]
    again = app.client.get("/v1/models", headers={"if-none-match": tag})
    assert (again.status_code, again.content, packed.headers["etag"]) == (304, b"", tag)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("model", "slug"),
    [
        ("openai/sim", "openai/sim"),
        ("openai%2Fsim", "openai/sim"),
        ("google/sim:free", "google/sim:free"),
        ("google%2Fsim%3Afree", "google/sim:free"),
        ("openai/sim-error-402", "openai/sim-error-402"),
    ],
)
def test_one_model(app: RunningApp, path: str, model: str, slug: str) -> None:
    """Ids have slashes and colons, encoded or not; a variant has the facts of its model, a hidden model its own."""
    answer = app.client.get(f"{path}/{model}")
    assert answer.status_code == 200
    body = answer.json()
    assert (body["id"], body["object"], body["owned_by"]) == (slug, "model", slug.partition("/")[0])
    listed = app.client.get(f"{path}/{slug.partition(':')[0]}").json()
    assert {**listed, "id": slug} == body
    assert float(body["pricing"]["prompt"]) > 0


@pytest.mark.parametrize("model", ["no/such-model", "nothing", "openai", "a/b/c/d", "%20", "..%2F..%2Fetc"])
def test_an_unknown_model(app: RunningApp, model: str) -> None:
    """As OpenAI says it."""
    refused = app.client.get(f"/v1/models/{model}")
    error = openai_error_of(refused)
    assert (refused.status_code, error["code"], error["param"]) == (404, "model_not_found", "model")
    assert error["type"] == "invalid_request_error"


@pytest.mark.parametrize("path", ["/v1/models/openai/sim", "/v1/models", "/api/v1/models/openai/sim", "/api/models"])
def test_a_slash_at_the_end_is_redirected(app: RunningApp, path: str) -> None:
    """The path of a model, whose id may contain slashes, behaves like the others."""
    redirect = app.client.get(f"{path}/")
    assert (redirect.status_code, redirect.headers["location"]) == (307, f"{app.url}{path}")


@pytest.mark.parametrize(
    ("path", "code"), [("/v1", "not_found"), ("/v1/", "not_found"), ("/v1/x", "not_found"), ("/api/v1", 404)]
)
def test_nothing_at_an_address_is_said_in_the_protocol_s_format(app: RunningApp, path: str, code: object) -> None:
    """A client with an incomplete base URL can read the error; a path that only begins like one is ours."""
    for refused in (app.client.get(path), app.client.post(path)):
        assert (refused.status_code, openai_error_of(refused)["code"]) == (404, code)
    assert error_of(app.client.get("/v12"))["code"] == "NOT_FOUND"


def test_unknown_parameters_are_refused(app: RunningApp) -> None:
    """A filter that does nothing would return too much."""
    refused = app.client.get("/v1/models?category=programming")
    error = openai_error_of(refused)
    assert (refused.status_code, error["code"], error["param"]) == (400, "unknown_parameter", "category")
    ours = app.client.get("/api/models?category=programming")
    assert (ours.status_code, error_of(ours)["code"]) == (422, "UNKNOWN_FIELD")


def test_the_list_of_another_server(start_app: StartApp) -> None:
    """Ollama and vLLM say who owns a model and no more; wrong types of the four fields are replaced."""
    vllm = {"id": "llama-3", "object": "model", "created": 1763683200, "owned_by": "vllm", "max_model_len": 8192}
    odd = {"id": "meta/odd", "object": 7, "created": "yesterday", "owned_by": None, "name": None}
    bare = {"id": "bare"}
    app, _ = start_app(says("Hello."), models=lists(vllm, odd, bare))
    listed = app.client.get("/v1/models").json()["data"]
    assert listed[0].items() >= vllm.items()
    four = [{name: one[name] for name in ("id", "object", "created", "owned_by")} for one in listed[1:]]
    assert four == [
        {"id": "meta/odd", "object": "model", "created": 0, "owned_by": "meta"},
        {"id": "bare", "object": "model", "created": 0, "owned_by": "unknown"},
    ]
    assert "pricing" not in listed[2]


def test_without_a_catalogue_every_model_may_exist(start_app: StartApp) -> None:
    """As a question with this model would be accepted; the list is empty."""
    app, _ = start_app(says("Hello."))
    assert app.client.get("/v1/models").json()["data"] == []
    assert app.client.get("/v1/models/some/model").json() == {
        "id": "some/model",
        "object": "model",
        "created": 0,
        "owned_by": "some",
    }
