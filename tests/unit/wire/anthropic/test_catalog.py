"""The list of models: ids, limits and abilities, from what an entry says and from the model's version."""

from typing import Any

import pytest
from signalbox.core.catalog import ModelFacts
from signalbox.core.messages import JsonObject
from signalbox.wire.dialects import DIALECTS, upstream_at

DIALECT = DIALECTS["anthropic-messages"]
ENTRY: JsonObject = {
    "type": "model",
    "id": "claude-opus-4-8",
    "display_name": "Claude Opus 4.8",
    "created_at": "2026-05-01T00:00:00Z",
    "max_input_tokens": 1_000_000,
    "max_tokens": 128_000,
    "capabilities": {"thinking": {"supported": True}, "image_input": {"supported": True}},
}


def facts(**changes: Any) -> ModelFacts:
    """Return the facts of the entry with these fields."""
    found = DIALECT.facts_of({**ENTRY, **changes})
    assert found is not None
    return found


def test_the_list_is_read() -> None:
    """Entries without an id are left out."""
    assert DIALECT.models.path == "/v1/models?limit=1000"
    assert DIALECT.models.read({"data": [ENTRY, {"id": ""}, 5]}) == [ENTRY]
    assert DIALECT.models.read({"data": None}) == []


def test_an_entry() -> None:
    """Name, limits, time and abilities are read; the newest models take no sampling parameters."""
    found = facts()
    assert (found.id, found.name, found.owned_by) == ("claude-opus-4-8", "Claude Opus 4.8", "anthropic")
    assert (found.context_length, found.max_output, found.created) == (1_000_000, 128_000, 1_777_593_600)
    assert found.abilities.images is True
    assert found.abilities.parameters is not None
    assert "reasoning" in found.abilities.parameters
    assert not {"temperature", "top_p", "top_k"} & found.abilities.parameters
    assert found.badges == ("images", "reasoning", "tools")
    assert found.prices is None


def test_an_older_model() -> None:
    """Without a statement of abilities, the version decides."""
    found = facts(id="claude-3-5-haiku-20241022", capabilities=None)
    assert found.abilities.parameters is not None
    assert "temperature" in found.abilities.parameters
    assert "reasoning" not in found.abilities.parameters
    assert found.abilities.images is True


@pytest.mark.parametrize("value", [None, True, -1, "x", [], {}, 1.5])
def test_strange_values(value: Any) -> None:
    """A field of another type counts as absent; a model that is not Claude is not said to see images."""
    names = ("display_name", "created_at", "max_input_tokens", "max_tokens", "capabilities")
    found = facts(id="MiniMax-M2.7", **dict.fromkeys(names, value))
    assert (found.context_length, found.max_output, found.created) == (None, None, None)
    assert (found.abilities.images, found.owned_by) == (None, "")
    assert found.name == (value if isinstance(value, str) else "MiniMax-M2.7")


def test_a_time_that_is_unknown() -> None:
    """The API sends the epoch for a model whose release it does not know."""
    assert facts(created_at="1970-01-01T00:00:00Z").created is None


def test_an_id_that_is_too_long() -> None:
    """An id that no model has is not listed."""
    assert DIALECT.facts_of({**ENTRY, "id": "x" * 300}) is None


def test_aliases() -> None:
    """The list has the dated id of an alias; other ids are listed as they are."""
    assert DIALECT.listed_id("claude-haiku-4-5") == "claude-haiku-4-5-20251001"
    assert DIALECT.listed_id("claude-opus-4-8") == "claude-opus-4-8"


def test_headers_and_path() -> None:
    """The key is in `x-api-key`; the path is below `/v1`, for Anthropic and for compatible servers."""
    for base_url in ("https://api.anthropic.com", "https://api.minimax.io/anthropic"):
        upstream = upstream_at(base_url, "sk-ant-1")
        assert upstream.dialect is DIALECT
        assert DIALECT.headers_of(upstream) == {"x-api-key": "sk-ant-1", "anthropic-version": "2023-06-01"}
    assert DIALECT.path_of("claude-opus-4-8", stream=True) == "/v1/messages"
