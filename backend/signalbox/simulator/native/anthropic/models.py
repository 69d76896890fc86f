"""Claude's models under their native ids, and what each accepts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...catalog import row_of
from ..endpoint import answers_natively
from .accents import ACCENTS, PREFIX
from .errors import NativeError, error_of, invalid

LONGEST_ANSWER = 64_000
_NEW = re.compile(r"claude-(?P<kind>[a-z]+)-(?P<major>\d+)(?:-(?P<minor>\d{1,2}))?(?:-\d{8})?")
_OLD = re.compile(r"claude-(?P<major>\d)(?:-(?P<minor>\d))?-(?P<kind>[a-z]+)(?:-\d{8}|-latest)?")
_LISTED = (
    ("claude-sonnet-5", "Claude Sonnet 5", "2026-06-30"),
    ("claude-opus-4-8", "Claude Opus 4.8", "2026-05-28"),
    ("claude-opus-4-7", "Claude Opus 4.7", "2026-04-16"),
    ("claude-sonnet-4-6", "Claude Sonnet 4.6", "2026-02-17"),
    ("claude-haiku-4-5-20251001", "Claude Haiku 4.5", "2025-10-15"),
    ("claude-sonnet-4-5-20250929", "Claude Sonnet 4.5", "2025-09-29"),
    ("claude-sonnet-4-20250514", "Claude Sonnet 4", "2025-05-22"),
    ("sim", "Simulated", "2025-11-21"),
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
    def may_set_effort(self) -> bool:
        """Return whether `output_config.effort` is supported."""
        return self.may_think_adaptively or (self.kind == "opus" and self.number == (4, 5))

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
    known = _NEW.fullmatch(model) or _OLD.fullmatch(model) or model == "sim" or model.startswith("sim-")
    if not known or not answers_natively(simulated_id(model)):
        raise _unknown(model)
    return model


def context_of(model: str) -> int:
    """Return the context window of a model in tokens."""
    return row_of(simulated_id(model)).context


def page(query: Mapping[str, str]) -> dict[str, Any]:
    """Return a page of the list of models, newest first."""
    ids = [model for model, _, _ in _LISTED]
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
    for listed, name, created in _LISTED:
        if model == listed:
            return {
                "type": "model",
                "id": model,
                "display_name": name,
                "created_at": f"{created}T00:00:00Z",
                "max_input_tokens": context_of(model),
                "max_tokens": LONGEST_ANSWER,
            }
    raise _unknown(model)


def _unknown(model: str) -> NativeError:
    return error_of(404, f"model: {model}")
