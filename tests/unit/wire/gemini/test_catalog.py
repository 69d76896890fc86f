"""The list of models."""

from typing import Any

from signalbox.wire.gemini.catalog import entries_of, facts_of

PRO: dict[str, Any] = {
    "name": "models/gemini-2.5-pro",
    "version": "2.5",
    "displayName": "Gemini 2.5 Pro",
    "inputTokenLimit": 1048576,
    "outputTokenLimit": 65536,
    "supportedGenerationMethods": ["generateContent", "countTokens"],
    "thinking": True,
}


def test_a_model() -> None:
    """The id is the name without its prefix; limits and thinking are facts."""
    (entry,) = entries_of({"models": [PRO, {"name": ""}, {"name": 5}, "x", {}]})
    facts = facts_of(entry)
    assert facts is not None
    assert (facts.id, facts.name, facts.owned_by) == ("gemini-2.5-pro", "Gemini 2.5 Pro", "google")
    assert (facts.context_length, facts.max_output, facts.badges) == (1048576, 65536, ("reasoning",))
    parameters = facts.abilities.parameters
    assert parameters is not None
    assert {"reasoning", "top_k", "format"} <= parameters
    assert "parallel" not in parameters


def test_a_model_without_thinking() -> None:
    """The list leaves the field out for a model that does not think; `reasoning` is not sent to it."""
    listed = {key: value for key, value in PRO.items() if key != "thinking"}
    for entry in (listed, {**listed, "thinking": False}):
        facts = facts_of({**entry, "id": "gemma-3", "displayName": ""})
        assert facts is not None
        assert (facts.name, facts.badges) == ("gemma-3", ())
        assert facts.abilities.parameters is not None
        assert "reasoning" not in facts.abilities.parameters


def test_an_entry_without_details() -> None:
    """Fields that are missing or of another type are unknown."""
    facts = facts_of({"id": "a", "inputTokenLimit": "many", "supportedGenerationMethods": 5, "thinking": True})
    assert facts is not None
    assert (facts.context_length, facts.max_output, facts.abilities.parameters) == (None, None, None)


def test_other_models_are_not_listed() -> None:
    """Embeddings do not generate content."""
    assert facts_of({**PRO, "id": "embedding", "supportedGenerationMethods": ["embedContent"]}) is None
    assert facts_of({**PRO, "id": "a" * 300}) is None
    assert entries_of({}) == []
