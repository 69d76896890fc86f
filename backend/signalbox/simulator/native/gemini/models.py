"""Gemini's model list."""

from collections.abc import Mapping
from typing import Any

from ...catalog import LONGEST_ANSWER, ROWS, Model, row_of
from ...faults.scripted import example_ids
from .errors import GeminiError, invalid
from .model_ids import FAMILY, neutral_id

_METHODS = ["generateContent", "countTokens"]
_PAGE, _LONGEST_PAGE = 50, 1000


def listed(query: Mapping[str, str], *, with_faults: bool) -> dict[str, Any]:
    """Return one page of the list; `pageToken` is the number of the first model on the page."""
    entries = [entry(row) for row in ROWS if row.id.startswith(f"{FAMILY}/") and not row.hidden]
    if with_faults:
        entries += [get(name) for name in example_ids() if _is_served(name)]
    size, start = _number(query, "pageSize", _PAGE), _number(query, "pageToken", 0)
    size = min(size or _PAGE, _LONGEST_PAGE)
    page: dict[str, Any] = {"models": entries[start : start + size]}
    return page | ({"nextPageToken": str(start + size)} if start + size < len(entries) else {})


def get(name: str, *, version: str = "v1beta") -> dict[str, Any]:
    """Return one model; raises GeminiError."""
    row = row_of(neutral_id(name, method="GetModel", version=version))
    return {**entry(row), "name": f"models/{name}"}


def entry(row: Model) -> dict[str, Any]:
    """Return a model in the API's format."""
    return {
        "name": f"models/{row.id.partition('/')[2]}",
        "version": "001",
        "displayName": row.name.partition(": ")[2],
        "description": "Answered by Signalbox's simulator: a small rule-based model that imitates Gemini.",
        "inputTokenLimit": row.context,
        "outputTokenLimit": LONGEST_ANSWER,
        "supportedGenerationMethods": _METHODS,
        "temperature": 1,
        "topP": 0.95,
        "topK": 64,
        "maxTemperature": 2,
        **({"thinking": True} if row.reasons else {}),
    }


def _is_served(name: str) -> bool:
    try:
        neutral_id(name)
    except GeminiError:  # a quirk that only chat completions have
        return False
    return True


def _number(query: Mapping[str, str], name: str, usual: int) -> int:
    text = query.get(name, str(usual))
    if not text.isascii() or not text.isdigit():
        raise invalid(f"* ListModelsRequest.{name}: Invalid value.\n")
    return int(text)
