"""The catalogue of several upstreams: ids of clients, prices of the file, static lists."""

import pytest
from signalbox.core.errors import RequestError
from signalbox.core.messages import JsonObject
from signalbox.core.params import NO_PARAMS
from signalbox.services.catalog import ModelCatalog
from signalbox.services.upstreams.catalog import MergedCatalog

from tests.unit.services.upstreams.conftest import MakeUpstreams

pytestmark = pytest.mark.anyio
FILE = """\
[[upstream]]
name = "a"
dialect = "openai-chat"
base_url = "http://127.0.0.1:9/v1"
models = ["acme/*", "fast"]
rename = { "fast" = "one", "acme/*" = "*" }
listed = ["one", "two"]
prices = { "acme/two" = { prompt = 1, completion = 1 } }

[[upstream]]
name = "b"
dialect = "openai-chat"
base_url = "http://127.0.0.1:9/v1"
listed = ["acme/one", "three"]

[[route]]
models = "acme/*"
use = ["a", "b"]
"""


async def test_models_have_the_ids_that_clients_use(make_upstreams: MakeUpstreams) -> None:
    """Every id that is renamed to a listed one; each once, with the prices of the file."""
    catalog = MergedCatalog(make_upstreams(FILE))
    models, _ = await catalog.entries()
    assert [model.id for model in models] == ["fast", "acme/one", "acme/two", "three"]
    assert [model.id for model in models if model.prices] == ["acme/two"]
    again, _ = await catalog.entries()
    assert again is models, "the encoded list is cached by this object"


async def test_a_model_names_the_upstreams_that_serve_it(make_upstreams: MakeUpstreams) -> None:
    """Those on its route that list it, in the order of fallback; it has the facts of the first."""
    text = FILE.replace('use = ["a", "b"]', 'use = ["b", "a"]')
    models, _ = await MergedCatalog(make_upstreams(text)).entries()
    assert {model.id: model.upstreams for model in models} == {
        "fast": ("a",),
        "acme/one": ("b", "a"),
        "acme/two": ("a",),
        "three": ("b",),
    }


async def test_every_listed_model_can_be_requested(make_upstreams: MakeUpstreams) -> None:
    """Also one that only the second upstream lists, without a route; one that its route excludes is not listed."""
    text = """
[[upstream]]
name = "a"
dialect = "openai-chat"
base_url = "http://127.0.0.1:9/v1"
listed = ["one"]

[[upstream]]
name = "b"
dialect = "openai-chat"
base_url = "http://127.0.0.1:9/v1"
listed = ["one", "two", "three"]

[[route]]
models = "three"
use = ["a"]
"""
    upstreams = make_upstreams(text)
    catalog = MergedCatalog(upstreams)
    models, _ = await catalog.entries()
    assert {model.id: model.upstreams for model in models} == {"one": ("a",), "two": ("b",)}
    for model in models:
        await catalog.check(model.id)
        assert upstreams.route(model.id, NO_PARAMS).current.upstream == model.upstreams[0]
    with pytest.raises(RequestError, match="No upstream lists the model 'three'"):
        await catalog.check("three")
    await catalog.check("b@three")


async def test_a_model_may_be_renamed_to_an_alias(make_upstreams: MakeUpstreams) -> None:
    """Anthropic's list has only the id with a date; the model is shown under each id that clients use."""
    text = """
[[upstream]]
name = "anthropic"
dialect = "anthropic-messages"
base_url = "http://127.0.0.1:9"
models = ["sonnet", "shared", "claude-*"]
rename = { sonnet = "claude-sonnet-4-5", shared = "claude-sonnet-4-5", other = "claude-sonnet-4-5" }
prices = { claude-sonnet-4-5 = { prompt = 3, completion = 15 } }

[[upstream]]
name = "b"
dialect = "openai-chat"
base_url = "http://127.0.0.1:9/v1"
listed = ["shared"]

[[route]]
models = "shared"
use = ["anthropic", "b"]
"""

    async def dated() -> list[JsonObject]:
        return [{"type": "model", "id": "claude-sonnet-4-5-20250929", "display_name": "Claude Sonnet 4.5"}]

    upstreams = make_upstreams(text)
    listed = upstreams.servers[0].catalog
    assert isinstance(listed, ModelCatalog)
    listed.fetch = dated
    catalog = MergedCatalog(upstreams)
    models, _ = await catalog.entries()
    assert {model.id: model.upstreams for model in models} == {
        "claude-sonnet-4-5-20250929": ("anthropic",),
        "shared": ("anthropic", "b"),
        "sonnet": ("anthropic",),
    }
    assert [model.id for model in models if model.prices] == ["shared", "sonnet"]
    for model in models:
        await catalog.check(model.id)


async def test_prices_of_the_file_are_shown(make_upstreams: MakeUpstreams) -> None:
    """As OpenRouter lists prices: decimal text, USD per token."""
    text = FILE.replace("completion = 1 }", "completion = 2.5, cached = 0 }")
    models, _ = await MergedCatalog(make_upstreams(text)).entries()
    shown = {model.id: model.pricing for model in models}
    assert shown["acme/two"] == {"prompt": "0.000001", "completion": "0.0000025", "input_cache_read": "0"}
    assert shown["acme/one"] is None


async def test_a_model_must_be_listed_on_its_route(make_upstreams: MakeUpstreams) -> None:
    """By any upstream of the route, under that upstream's id."""
    catalog = MergedCatalog(make_upstreams(FILE))
    for model in ("fast", "acme/one", "three", "b@three", "a@acme/two"):
        await catalog.check(model)
    for model in ("acme/three", "four"):
        with pytest.raises(RequestError, match="No upstream lists the model"):
            await catalog.check(model)
    for model, words in {"a@acme/three": "'a' does not list the model 'acme/three'", "b@fast": "'b' does not"}.items():
        with pytest.raises(RequestError, match=f"The upstream {words}"):
            await catalog.check(model)


async def test_facts_of_a_listed_model_are_only_its_prices(make_upstreams: MakeUpstreams) -> None:
    """A static list says nothing else."""
    catalog = MergedCatalog(make_upstreams(FILE))
    priced = catalog.entry("acme/two")
    assert priced is not None
    assert priced.prices is not None
    assert catalog.entry("acme/one") is None
