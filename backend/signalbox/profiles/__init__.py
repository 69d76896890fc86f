"""Profiles of model families, and the lookup by model id."""

from functools import lru_cache

from signalbox.profiles import anthropic, deepseek, google, minimax, mistral, moonshot, openai, qwen, xai, zai
from signalbox.profiles.profile import Profile

FAMILIES: tuple[Profile, ...] = tuple(
    module.PROFILE for module in (anthropic, deepseek, google, minimax, mistral, moonshot, openai, qwen, xai, zai)
)
UNKNOWN = Profile(family="unknown")

_BY_VENDOR = {vendor: profile for profile in FAMILIES for vendor in profile.vendors}


@lru_cache(maxsize=1024)
def profile_for(model: str) -> Profile:
    """Return the profile of a model id, found by vendor (`anthropic/…`), else by name (`claude-…`)."""
    vendor, slash, name = model.lower().removeprefix("~").rpartition("/")
    known = _BY_VENDOR.get(vendor.rpartition("/")[2])
    if slash and known:
        return known
    return next((p for p in FAMILIES if name.startswith(p.names)), UNKNOWN)


__all__ = ["FAMILIES", "UNKNOWN", "Profile", "profile_for"]
