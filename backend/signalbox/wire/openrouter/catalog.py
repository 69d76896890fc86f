"""Reads the entries of the list of models, and converts each to `ModelFacts`."""

from math import inf

from signalbox.core.catalog import Abilities, ModelFacts, Prices
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.wire.openrouter.request import KEYS

# Characters of a model's id or name; longer ones are not real.
_LONGEST = 256
_BADGES = (
    ("tools", "tools"),
    ("reasoning", "reasoning"),
    ("include_reasoning", "reasoning"),
    ("response_format", "json"),
    ("structured_outputs", "json"),
)
_FIELD_OF = {key: field for field, key in KEYS.items()}


def entries_of(answer: JsonObject) -> list[JsonObject]:
    """Return the entries that have an id."""
    listed = answer.get("data")
    entries = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    return [entry for entry in entries if isinstance(entry.get("id"), str) and entry["id"]]


def facts_of(entry: JsonObject) -> ModelFacts | None:
    """Return the facts of an entry; None for an id that is longer than any model's.

    A field of an unexpected type counts as absent, because the page expects the listed types. Missing facts are None.
    """
    model_id = str(entry["id"])
    if len(model_id) > _LONGEST:
        return None
    provider, name, pricing = entry.get("top_provider"), entry.get("name"), entry.get("pricing")
    supported, owner = entry.get("supported_parameters"), entry.get("owned_by")
    listed = supported if isinstance(supported, list) else []
    named = {item for item in listed if isinstance(item, str)}
    inputs = _modalities(entry, "input_modalities")
    return ModelFacts(
        id=model_id,
        name=name[:_LONGEST] if isinstance(name, str) and name else model_id,
        context_length=_number(entry.get("context_length")),
        max_output=_number(provider.get("max_completion_tokens")) if isinstance(provider, dict) else None,
        created=_number(entry.get("created")),
        prices=_prices(pricing),
        abilities=Abilities(
            parameters=frozenset(_FIELD_OF.get(str(item), str(item)) for item in listed) if listed else None,
            tools=not listed or "tools" in named,
            images="image" in inputs if inputs else None,
            modalities=_drawn_modalities(entry),
        ),
        badges=_badges(named, inputs),
        hidden=entry.get("hidden") is True,
        pricing=pricing if isinstance(pricing, dict) else None,
        supported=tuple(sorted(named)),
        owned_by=owner if isinstance(owner, str) else "",
        listed=entry,
    )


def _badges(named: set[str], inputs: list[JsonValue]) -> tuple[str, ...]:
    badges = {badge for parameter, badge in _BADGES if parameter in named}
    if "image" in inputs:
        badges.add("images")
    return tuple(sorted(badges))


def _modalities(entry: JsonObject, name: str) -> list[JsonValue]:
    architecture = entry.get("architecture")
    listed = architecture.get(name) if isinstance(architecture, dict) else None
    return listed if isinstance(listed, list) else []


def _drawn_modalities(entry: JsonObject) -> tuple[str, ...]:
    """Return the `modalities` to request from a model that generates images: exactly its own, or no provider is found.

    A router lists images because one of its models generates them. If images were requested, it would choose only among
    such models.
    """
    outputs = _modalities(entry, "output_modalities")
    if "image" not in outputs or _is_router(entry):
        return ()
    return ("image", "text") if "text" in outputs else ("image",)


def _is_router(entry: JsonObject) -> bool:
    """Whether the price depends on the model that is chosen per request: the catalogue lists -1."""
    pricing = entry.get("pricing")
    return isinstance(pricing, dict) and str(pricing.get("prompt")).startswith("-")


def _prices(pricing: JsonValue) -> Prices | None:
    """Return a model's prices; None if the catalogue lists none, or -1 (routers)."""
    if not isinstance(pricing, dict):
        return None
    prompt, completion = _price(pricing.get("prompt")), _price(pricing.get("completion"))
    if prompt is None or completion is None:
        return None
    return Prices(prompt, completion, _price(pricing.get("input_cache_read")), _price(pricing.get("input_cache_write")))


def _price(listed: JsonValue) -> float | None:
    try:
        price = float(listed) if isinstance(listed, str | int | float) else -1.0
    except (ValueError, OverflowError):
        return None
    return price if 0 <= price < inf else None


def _number(value: JsonValue) -> float | None:
    return value if isinstance(value, int | float) else None
