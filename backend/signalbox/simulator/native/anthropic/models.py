"""Claude's models under their native ids, and what each accepts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...catalog import SCRIPTED, row_of
from ...faults.scripted import example_ids
from ..endpoint import answers_natively
from .accents import ACCENTS, PREFIX
from .errors import NativeError, error_of, invalid

LONGEST_ANSWER = 64_000
_NEW = re.compile(r"claude-(?P<kind>[a-z]+)-(?P<major>\d+)(?:-(?P<minor>\d{1,2}))?(?:-\d{8})?")
_OLD = re.compile(r"claude-(?P<major>\d)(?:-(?P<minor>\d))?-(?P<kind>[a-z]+)(?:-\d{8}|-latest)?")
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


@dataclass(frozen=True, slots=True)
class Version:
    """The kind and number of a Claude model; `sim` accepts what any of them accepts."""

    kind: str
    number: tuple[int, int]

    @property
    def is_simulated(self) -> bool:
        """Return whether this is no model of Anthropic's."""
        return self.kind == "sim"

    @property
    def is_adaptive_only(self) -> bool:
        """Return whether the model accepts neither a thinking budget nor sampling parameters (quirk C5)."""
        return self.number >= (4, 7)

    @property
    def may_think_adaptively(self) -> bool:
        """Return whether `thinking.type` may be `adaptive`."""
        return self.is_simulated or self.number >= (4, 6)

    @property
    def efforts(self) -> tuple[str, ...]:
        """Return the values of `output_config.effort`, empty if it is not supported."""
        if self.is_simulated or self.number >= (4, 7):
            return ("low", "medium", "high", "xhigh", "max")
        if self.number >= (4, 6):
            return ("low", "medium", "high", "max")
        return ("low", "medium", "high") if (self.kind, self.number) == ("opus", (4, 5)) else ()

    @property
    def omits_thinking(self) -> bool:
        """Return whether thinking is empty unless `display` is `summarized`."""
        return self.number >= (4, 7)

    @property
    def rejects_prefill(self) -> bool:
        """Return whether the conversation must end with a user message (quirk C6)."""
        return self.is_simulated or self.number >= (4, 6)

    @property
    def has_one_sampling_parameter(self) -> bool:
        """Return whether temperature and top_p exclude each other (measured for 4.5 and 4.6)."""
        return self.is_simulated or self.number >= (4, 5)


def version_of(model: str) -> Version:
    """Return the version that a native id names."""
    match = _NEW.fullmatch(model) or _OLD.fullmatch(model)
    if not match:
        return Version("sim", (0, 0))
    return Version(match["kind"], (int(match["major"]), int(match["minor"] or 0)))


def simulated_id(model: str) -> str:
    """Return the id under which the simulated model answers: without the date, with a point in the version."""
    name = model.removeprefix(PREFIX)
    if name != model and name in ACCENTS:
        return "anthropic/sim"
    match = _NEW.fullmatch(model)
    if not match:
        return f"anthropic/{model}"
    minor = f".{match['minor']}" if match["minor"] else ""
    return f"anthropic/claude-{match['kind']}-{match['major']}{minor}"


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
    is_claude = _NEW.fullmatch(model) is not None or _OLD.fullmatch(model) is not None
    is_simulated = model == "sim" or model.startswith(PREFIX)
    return (is_claude or is_simulated) and answers_natively(simulated_id(model))


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
    return {
        "type": "model",
        "id": model,
        "display_name": name or f"Simulated: {model}",
        "created_at": f"{created or _SIMULATED}T00:00:00Z",
        "max_input_tokens": context_of(model),
        "max_tokens": LONGEST_ANSWER,
    }


def _unknown(model: str) -> NativeError:
    return error_of(404, f"model: {model}")
