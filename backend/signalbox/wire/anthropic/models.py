"""What the Claude models accept, by the version in their names."""

import re
from dataclasses import dataclass
from functools import lru_cache

# claude-3-7-sonnet-20250219, claude-opus-4-20250514, anthropic/claude-sonnet-4.6, claude-fable-5.
_VERSION = re.compile(r"claude-(?:([a-z]+)-)?(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)")
# The list of models has only the dated ids of these models (Anthropic's overview of models).
_ALIASES = {
    "claude-haiku-4-5": "claude-haiku-4-5-20251001",
    "claude-sonnet-4-5": "claude-sonnet-4-5-20250929",
    "claude-opus-4-5": "claude-opus-4-5-20251101",
    "claude-opus-4-1": "claude-opus-4-1-20250805",
    "claude-opus-4-0": "claude-opus-4-20250514",
    "claude-sonnet-4-0": "claude-sonnet-4-20250514",
    "claude-3-7-sonnet-latest": "claude-3-7-sonnet-20250219",
    "claude-3-5-haiku-latest": "claude-3-5-haiku-20241022",
}
# A name without a version (claude-mythos-preview) is that of a newer model.
_NEWEST: tuple[int, int] = (99, 0)


@dataclass(frozen=True, slots=True)
class ModelTraits:
    """What a model accepts.

    `is_claude`: other models of servers that speak this API get no fields that only Claude knows. `thinks`: it accepts
    `thinking`. `budgets` and `adapts`: as a number of tokens, or as it sees fit. `efforts`: the values of
    `output_config.effort`, empty without this field. `samples`: it accepts `temperature`, `top_p` and `top_k`.
    `hides_thinking`: its thinking is empty unless the request asks for a summary. `thinks_by_default`: it thinks unless
    the request turns thinking off. `off` is the type of `thinking` that turns it off; None if nothing has to be sent,
    or nothing can turn it off. `max_tokens`: the limit that is sent if the caller sets none; the API requires one.
    """

    is_claude: bool
    thinks: bool
    budgets: bool
    adapts: bool
    efforts: tuple[str, ...]
    samples: bool
    hides_thinking: bool
    thinks_by_default: bool
    off: str | None
    max_tokens: int


def listed_id(model: str) -> str:
    """Return the id under which the list of models has a model."""
    return _ALIASES.get(model, model)


@lru_cache(maxsize=256)
def traits_of(model: str) -> ModelTraits:
    """Return what a model accepts; a model that is not Claude gets the oldest form of thinking."""
    if "claude" not in model:
        return ModelTraits(
            is_claude=False,
            thinks=True,
            budgets=True,
            adapts=False,
            efforts=(),
            samples=True,
            hides_thinking=False,
            thinks_by_default=False,
            off="disabled",
            max_tokens=16_384,
        )
    found = _VERSION.search(model)
    version: tuple[int, int] = (int(found[2]), int(found[3] or 0)) if found else _NEWEST
    return ModelTraits(
        is_claude=True,
        thinks=version >= (3, 7),
        # 400 from Opus 4.7 on: only `adaptive` is supported (Anthropic's documentation of adaptive thinking).
        budgets=(3, 7) <= version < (4, 7),
        adapts=version >= (4, 6),
        efforts=_efforts_of(model, version),
        # 400 from Opus 4.7 on, even for the default values (quirk C5).
        samples=version < (4, 7),
        hides_thinking=version >= (4, 7),
        thinks_by_default=version >= (5, 0),
        off=_off_of(found[1] if found else None, version),
        max_tokens=_max_tokens_of(version),
    )


def _efforts_of(model: str, version: tuple[int, int]) -> tuple[str, ...]:
    if version >= (4, 7):
        return ("low", "medium", "high", "xhigh", "max")
    if version >= (4, 6):
        return ("low", "medium", "high", "max")
    return ("low", "medium", "high") if version == (4, 5) and "opus" in model else ()


def _off_of(kind: str | None, version: tuple[int, int]) -> str | None:
    """Return what turns thinking off (Anthropic's migration guides of Opus 5, Opus 5.5 and Sonnet 5.5).

    Opus 5.5 and Fable reject both values; an unknown model probably does, too.
    """
    if version < (5, 0) or version == _NEWEST or kind not in ("haiku", "opus", "sonnet"):
        return None
    if version < (5, 5) or kind == "haiku":
        return "disabled"
    return "between_tools" if kind == "sonnet" else None


def _max_tokens_of(version: tuple[int, int]) -> int:
    """Return a limit that every model of the version accepts: Opus 4 and 4.1 accept 32,000 tokens."""
    if version < (3, 5):
        return 4_096
    return 8_192 if version < (3, 7) else 32_000
