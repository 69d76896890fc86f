"""Claude's models under their native ids, and what each accepts."""

from collections.abc import Mapping
from typing import Any

from ...catalog import SCRIPTED, row_of
from ...faults.scripted import example_ids
from ..endpoint import answers_natively
from .accents import ACCENTS, PREFIX
from .capabilities import capabilities_of, lifecycle_of
from .errors import NativeError, error_of, invalid
from .versions import alias_of, is_claude, version_of

LONGEST_ANSWER = 64_000
_SIMULATED = "2025-11-21"
_LISTED = (
    ("claude-sonnet-5", "Claude Sonnet 5", "2026-06-30"),
    ("claude-opus-4-8", "Claude Opus 4.8", "2026-05-28"),
    ("claude-opus-4-7", "Claude Opus 4.7", "2026-04-16"),
    ("claude-sonnet-4-6", "Claude Sonnet 4.6", "2026-02-17"),
    ("claude-haiku-4-5-20251001", "Claude Haiku 4.5", "2025-10-15"),
    ("claude-sonnet-4-5-20250929", "Claude Sonnet 4.5", "2025-09-29"),
    ("claude-sonnet-4-20250514", "Claude Sonnet 4", "2025-05-22"),
    ("sim", "Simulated", _SIMULATED),
)


def simulated_id(model: str) -> str:
    """Return the id under which the simulated model answers: without the date, with a point in the version."""
    name = model.removeprefix(PREFIX)
    if name != model and name in ACCENTS:
        return "anthropic/sim"
    return f"anthropic/{alias_of(model)}"


def check_model(model: object) -> str:
    """Return a native id if this API serves it."""
    if model is None:
        raise invalid("model: Field required")
    if not isinstance(model, str) or not model:
        raise invalid("model: Input should be a valid string")
    if not _is_served(model):
        raise _unknown(model)
    return model


def _is_served(model: str) -> bool:
    is_simulated = model == "sim" or model.startswith(PREFIX)
    return (is_claude(model) or is_simulated) and answers_natively(simulated_id(model))


def context_of(model: str) -> int:
    """Return the context window of a model in tokens."""
    return row_of(simulated_id(model)).context


def page(query: Mapping[str, str], *, with_faults: bool) -> dict[str, Any]:
    """Return a page of the list of models, newest first; `with_faults` adds the ids of faults and accents."""
    ids = [model for model, _, _ in _LISTED]
    if with_faults:
        limits = [row.id.partition("/")[2] for row in SCRIPTED]
        ids += [name for name in (*limits, *map(PREFIX.__add__, ACCENTS), *example_ids()) if _is_served(name)]
    start = ids.index(query["after_id"]) + 1 if query.get("after_id") in ids else 0
    end = ids.index(query["before_id"]) if query.get("before_id") in ids else len(ids)
    limit = int(query["limit"]) if query.get("limit", "").isdigit() else 20
    shown = ids[start:end][:limit]
    return {
        "data": [entry_of(model) for model in shown],
        "has_more": start + len(shown) < end,
        "first_id": shown[0] if shown else None,
        "last_id": shown[-1] if shown else None,
    }


def entry_of(model: str) -> dict[str, Any]:
    """Return one model of the list."""
    name, created = next(((name, created) for listed, name, created in _LISTED if listed == model), ("", ""))
    if not name and not (model.startswith(PREFIX) and _is_served(model)):
        raise _unknown(model)
    version = version_of(model)
    return {
        "type": "model",
        "id": model,
        "display_name": name or f"Simulated: {model}",
        "created_at": f"{created or _SIMULATED}T00:00:00Z",
        "max_input_tokens": context_of(model),
        "max_tokens": LONGEST_ANSWER,
        **lifecycle_of(version),
        "capabilities": capabilities_of(version),
    }


def _unknown(model: str) -> NativeError:
    return error_of(404, f"model: {model}")
