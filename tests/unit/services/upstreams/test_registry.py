"""Which upstreams serve a model, in which order, and under which id."""

import pytest
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError, UpstreamError
from signalbox.core.params import NO_PARAMS

from tests.unit.services.upstreams.conftest import MakeUpstreams

pytestmark = pytest.mark.anyio
FILE = """\
[[upstream]]
name = "a"
dialect = "openai-chat"
base_url = "http://127.0.0.1:9/v1"
models = ["acme/*"]
rename = { "acme/*" = "*" }
prices = { "one" = { prompt = 2, completion = 8 } }

[[upstream]]
name = "b"
dialect = "openrouter-chat"
base_url = "http://127.0.0.1:9/api/v1"

[[route]]
models = "acme/one"
use = ["b", "a"]

[[route]]
models = "acme/*"
use = ["a"]
"""


def names(upstreams, model: str) -> list[str]:
    """Return the upstreams that serve a model."""
    return [server.entry.name for server in upstreams.serving(model)[0]]


async def test_the_first_route_that_matches_counts(make_upstreams: MakeUpstreams) -> None:
    """Its order is the order of fallback. Without a route, one upstream serves a model: the first of the file."""
    upstreams = make_upstreams(FILE)
    assert names(upstreams, "acme/one") == ["b", "a"]
    assert names(upstreams, "acme/two") == ["a"]
    assert names(upstreams, "other/three") == ["b"]
    without_routes = make_upstreams(FILE.partition("[[route]]")[0])
    assert names(without_routes, "acme/one") == ["a"]


async def test_a_forced_upstream_must_serve_the_model(make_upstreams: MakeUpstreams) -> None:
    """Its patterns apply; a name that is none of the file's is part of the model."""
    upstreams = make_upstreams(FILE)
    assert names(upstreams, "a@acme/one") == ["a"]
    assert names(upstreams, "a@other/three") == []
    assert names(upstreams, "@preset/mine") == ["b"]
    assert upstreams.serving("c@acme/one")[1] == "c@acme/one"
    with pytest.raises(RequestError, match="The upstream 'a' does not serve the model 'other/three'"):
        upstreams.route("a@other/three", NO_PARAMS)


async def test_a_destination_has_the_upstreams_id_and_prices(make_upstreams: MakeUpstreams) -> None:
    """Prices may be listed by the id of the upstream or by that of clients."""
    current = make_upstreams(FILE).route("a@acme/one", NO_PARAMS).current
    assert (current.upstream, current.dialect, current.model, current.requested) == (
        "a",
        "openai-chat",
        "one",
        "acme/one",
    )
    assert current.prices is not None
    assert (current.prices.prompt, current.prices.completion) == (2 / 1_000_000, 8 / 1_000_000)


async def test_only_an_upstream_with_bills_is_asked_for_one(make_upstreams: MakeUpstreams) -> None:
    """The error is final, so that the cost stays an estimate at once."""
    upstreams = make_upstreams(FILE)
    assert upstreams.has_bills
    for name in ("a", "removed", ""):
        with pytest.raises(UpstreamError) as raised:
            await upstreams.bill("gen-1", name)
        assert raised.value.code is Code.UPSTREAM_REJECTED
