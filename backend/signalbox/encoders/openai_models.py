"""Encodes models of the catalogue as OpenAI lists them, with the further fields of OpenRouter's list."""

from signalbox.core.catalog import ModelFacts
from signalbox.core.messages import JsonObject, JsonValue

_UNKNOWN_OWNER = "unknown"


def model_object(model_id: str, facts: ModelFacts | None) -> JsonObject:
    """Return a model; `facts` are its own or those of the model that it is a variant of, None if nothing is known.

    Fields that OpenAI does not have are as the upstream lists them. OpenAI's clients require the other four.
    """
    if facts is None:
        return _required(model_id, 0, "")
    optional: JsonObject = {
        "name": facts.name,
        "context_length": facts.context_length,
        "pricing": facts.pricing,
        "supported_parameters": [*facts.supported] or None,
    }
    known = {name: value for name, value in optional.items() if value is not None}
    return {**facts.listed, **known, **_required(model_id, int(facts.created or 0), facts.owned_by)}


def _required(model_id: str, created: int, owned_by: str) -> JsonObject:
    author, slash, _ = model_id.partition("/")
    owner = owned_by or (author if slash else _UNKNOWN_OWNER)
    return {"id": model_id, "object": "model", "created": created, "owned_by": owner}


def model_list(models: list[JsonValue], page: slice = slice(None)) -> JsonObject:
    """Return a list of models, or a page of it; `total_count` counts all of them."""
    return {"object": "list", "data": models[page], "total_count": len(models), "links": {"next": None}}
