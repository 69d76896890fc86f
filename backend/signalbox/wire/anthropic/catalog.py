"""Reads the entries of the list of models."""

from datetime import datetime
from urllib.parse import quote

from signalbox.core.catalog import Abilities, ModelFacts
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.params import FIELDS
from signalbox.wire.anthropic.models import traits_of

# The first page of the list.
LIST = "/v1/models?limit=1000"
# Characters of a model's id or name; longer ones are not real.
_LONGEST = 256
_SAMPLING = ("temperature", "top_p", "top_k")


def entries_of(answer: JsonObject) -> list[JsonObject]:
    """Return the entries that have an id."""
    listed = answer.get("data")
    entries = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    return [entry for entry in entries if isinstance(entry.get("id"), str) and entry["id"]]


def next_page_of(answer: JsonObject) -> str | None:
    """Return the path of the next page."""
    last = answer.get("last_id")
    return (
        f"{LIST}&after_id={quote(last, safe='')}" if answer.get("has_more") is True and isinstance(last, str) else None
    )


def facts_of(entry: JsonObject) -> ModelFacts | None:
    """Return the facts of an entry; None for an id that is longer than any model's. The list has no prices."""
    model_id = str(entry["id"])
    if len(model_id) > _LONGEST:
        return None
    name, traits = entry.get("display_name"), traits_of(model_id)
    thinks = _ability(entry, "thinking")
    thinks = traits.thinks if thinks is None else thinks
    images = _ability(entry, "image_input")
    images = True if images is None and traits.is_claude else images
    absent = {*(() if traits.samples else _SAMPLING), *(() if thinks else ("reasoning",))}
    badges = ["tools", *(["reasoning"] if thinks else []), *(["images"] if images else [])]
    return ModelFacts(
        id=model_id,
        name=name[:_LONGEST] if isinstance(name, str) and name else model_id,
        context_length=_number(entry.get("max_input_tokens")),
        max_output=_number(entry.get("max_tokens")),
        created=_time(entry.get("created_at")),
        abilities=Abilities(
            parameters=frozenset(FIELDS) - absent,
            images=images,
        ),
        badges=tuple(sorted(badges)),
        owned_by="anthropic" if traits.is_claude else "",
        listed=entry,
    )


def _ability(entry: JsonObject, name: str) -> bool | None:
    """Return whether a model has an ability; None if the entry does not say."""
    abilities = entry.get("capabilities")
    ability = abilities.get(name) if isinstance(abilities, dict) else None
    supported = ability.get("supported") if isinstance(ability, dict) else None
    return supported if isinstance(supported, bool) else None


def _time(value: JsonValue) -> float | None:
    """Return the time of the release in epoch seconds; the API sends the epoch itself for an unknown one."""
    try:
        at = datetime.fromisoformat(value).timestamp() if isinstance(value, str) else 0
    except (ValueError, OverflowError):
        return None
    return at if at > 0 else None


def _number(value: JsonValue) -> int | None:
    return value if type(value) is int and value > 0 else None
