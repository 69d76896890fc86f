"""OpenAI's models under their native ids, and what each accepts."""

import re
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from ...catalog import CREATED, SCRIPTED, row_of
from ...faults.scripted import example_ids
from ...rules.openrouter import affordable_tokens
from ..endpoint import answers_natively
from ..errors import NativeError
from .errors import error_of

_DATE = r"(?:-\d{4}-\d{2}-\d{2})?"
_GPT = re.compile(rf"gpt-(?P<major>\d+)(?:\.(?P<minor>\d+))?o?(?:-[a-z]+)*{_DATE}")
_CHAT = re.compile(r"^(?:gpt-5[.\d]*-chat|chatgpt-)")
_O = re.compile(rf"(?:o\d|codex)(?:-[a-z]+)*{_DATE}")
_SNAPSHOTS = {
    "gpt-5.4": "2026-03-05",
    "gpt-5": "2025-08-07",
    "gpt-5-mini": "2025-08-07",
    "gpt-5-nano": "2025-08-07",
    "gpt-4.1": "2025-04-14",
    "gpt-4.1-mini": "2025-04-14",
    "gpt-4o": "2024-08-06",
    "gpt-4o-mini": "2024-07-18",
    "o4-mini": "2025-04-16",
}
LISTED = ("sim", *_SNAPSHOTS)
_ACCENTS = "web-search commentary open-reasoning two-summaries whole-arguments plain-frames unknown"
ACCENTS = tuple(f"sim-{name}" for name in _ACCENTS.split())
"""The ids of `accents.py`, whose answers are those of `sim`, changed."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a model accepts; `sim` accepts what any of them accepts."""

    reasons: bool
    reasons_by_default: bool
    may_set_sampling: bool
    """Whether temperature and top_p are supported, at least without reasoning."""
    needs_no_reasoning_for_sampling: bool = False
    """Whether temperature and top_p are supported only without reasoning."""
    has_phases: bool = False
    """Whether messages say if they are a commentary or the final answer (from gpt-5.3 on)."""


def abilities_of(model: str) -> Abilities:
    """Return what a native id accepts."""
    if _O.fullmatch(model):
        return Abilities(reasons=True, reasons_by_default=True, may_set_sampling=False)
    match = _GPT.fullmatch(model)
    if _CHAT.search(model):
        return Abilities(reasons=False, reasons_by_default=False, may_set_sampling=True)
    if not match:
        return Abilities(reasons=True, reasons_by_default=True, may_set_sampling=True, has_phases=True)
    version = (int(match["major"]), int(match["minor"] or 0))
    if version < (5, 0):
        return Abilities(reasons=False, reasons_by_default=False, may_set_sampling=True)
    if version == (5, 0):
        return Abilities(reasons=True, reasons_by_default=True, may_set_sampling=False)
    # From gpt-5.1 on, the default effort is `none`.
    return Abilities(
        reasons=True,
        reasons_by_default=False,
        may_set_sampling=True,
        needs_no_reasoning_for_sampling=True,
        has_phases=version >= (5, 3),
    )


def simulated_id(model: str) -> str:
    """Return the id under which the simulated model answers: without the date."""
    if model in ACCENTS:
        return "openai/sim"
    return "openai/" + re.sub(r"-\d{4}-\d{2}-\d{2}$", "", model)


def snapshot_of(model: str) -> str:
    """Return the dated id that answers name."""
    date = _SNAPSHOTS.get(model)
    return f"{model}-{date}" if date else model


def is_served(model: str) -> bool:
    """Return whether this API serves a model."""
    is_openai = any(pattern.fullmatch(model) for pattern in (_GPT, _O)) or model.startswith("chatgpt-")
    return (is_openai or model == "sim" or model.startswith("sim-")) and answers_natively(simulated_id(model))


def context_of(model: str) -> int:
    """Return the context window of a model in tokens."""
    return row_of(simulated_id(model)).context


def check_key(request: Request) -> None:
    """Reject a request without a key."""
    if not request.headers.get("authorization", "").startswith("Bearer "):
        text = (
            "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer "
            "auth (i.e. Authorization: Bearer YOUR_KEY)."
        )
        raise error_of(401, text)


def check_credit(model: str, limit: int) -> None:
    """Reject an answer that the account of `sim-afford-N` cannot pay for."""
    affords = affordable_tokens(model)
    if affords is not None and (limit > affords or affords == 0):
        text = "You exceeded your current quota, please check your plan and billing details."
        raise error_of(429, text, kind="insufficient_quota", code="insufficient_quota")


def listing(*, with_faults: bool) -> dict[str, Any]:
    """Return the body of /models; `with_faults` adds the ids of faults and limits."""
    ids = [*LISTED]
    if with_faults:
        limits = [row.id.partition("/")[2] for row in SCRIPTED]
        ids += [name for name in (*limits, *ACCENTS, *example_ids()) if name.startswith("sim-") and is_served(name)]
    return {"object": "list", "data": [_entry(model) for model in dict.fromkeys(ids)]}


def entry_of(model: str) -> dict[str, Any]:
    """Return one model of the list."""
    if not is_served(model):
        raise unknown_model(model)
    return _entry(model)


def unknown_model(model: str) -> NativeError:
    """Return the error of an unknown model; the Responses API has another one."""
    text = f"The model '{model}' does not exist"
    return error_of(404, text, param="model", code="model_not_found")


def _entry(model: str) -> dict[str, Any]:
    return {"id": model, "object": "model", "created": CREATED, "owned_by": "system"}
