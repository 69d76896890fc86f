"""Reads the entries of the list of models, and converts each to `ModelFacts`."""

from urllib.parse import quote

from signalbox.core.catalog import Abilities, ModelFacts
from signalbox.core.messages import JsonObject
from signalbox.core.params import FIELDS
from signalbox.wire.gemini.generation_config import UNSUPPORTED
from signalbox.wire.gemini.values import count_in, objects_in, text_in

# The first page of the list.
LIST = "/v1beta/models?pageSize=1000"
_PREFIX = "models/"
_LONGEST = 256
_METHOD = "generateContent"


def entries_of(answer: JsonObject) -> list[JsonObject]:
    """Return the entries that have a name, with the id that requests use: the name without `models/`."""
    named = [(entry, text_in(entry, "name").removeprefix(_PREFIX)) for entry in objects_in(answer, "models")]
    return [{**entry, "id": name} for entry, name in named if name]


def next_page_of(answer: JsonObject) -> str | None:
    """Return the path of the next page."""
    token = text_in(answer, "nextPageToken")
    return f"{LIST}&pageToken={quote(token, safe='')}" if token else None


def facts_of(entry: JsonObject) -> ModelFacts | None:
    """Return the facts of an entry; None for a model that does not generate content, such as an embedding."""
    model, methods = str(entry["id"]), entry.get("supportedGenerationMethods")
    if len(model) > _LONGEST or (isinstance(methods, list) and _METHOD not in methods):
        return None
    thinks = entry.get("thinking") is True  # left out if it is false
    parameters = set(FIELDS) - UNSUPPORTED - (set() if thinks else {"reasoning"})
    return ModelFacts(
        id=model,
        name=text_in(entry, "displayName")[:_LONGEST] or model,
        context_length=count_in(entry, "inputTokenLimit") or None,
        max_output=count_in(entry, "outputTokenLimit") or None,
        abilities=Abilities(parameters=frozenset(parameters) if isinstance(methods, list) else None),
        badges=("reasoning",) if thinks else (),
        owned_by="google",
        listed=entry,
    )
