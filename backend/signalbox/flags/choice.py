"""Chooses the loop of a run, and gives the reason in OpenFeature's terms."""

from collections.abc import Callable
from hashlib import blake2b

from msgspec import Struct

from signalbox.core.events import Flag, LoopName
from signalbox.flags.override import Override

FLAG_KEY = "tool_loop_v2"


class Choice(Struct, frozen=True):
    """The loop of one run and the flag evaluation behind it."""

    loop: LoopName
    flag: Flag


def choose_loop(
    environment: bool | None,
    override: Override | None,
    key: str,
    asked: LoopName | None = None,
    provided: Callable[[], Choice | None] | None = None,
) -> Choice:
    """Decide in this order: kill switch, the request's header, override, provider, environment, default (V2).

    `key` makes the choice sticky: the conversation's id, else the run's. `asked` is the header's value, None where
    headers are ignored. `provided` asks the flag provider, None if there is none. If it fails, the loop is legacy: a
    flag that cannot be read must not turn V2 on.
    """
    if environment is False:
        return _choice("legacy", "DISABLED")  # nothing overrides the kill switch
    if asked is not None:
        return _choice(asked, "TARGETING_MATCH")
    if override is not None:
        return _overridden(override, key)
    if provided is not None:
        return provided() or _choice("legacy", "ERROR")
    return _choice("v2", "STATIC" if environment else "DEFAULT")


def _overridden(override: Override, key: str) -> Choice:
    if override.state == "percent":
        return _choice("v2" if bucket(key) < override.percent * 100 else "legacy", "SPLIT")
    return _choice("v2" if override.state == "on" else "legacy", "STATIC")


def bucket(key: str) -> int:
    """Return a key's bucket of 10,000: stable, and independent of other flags' buckets."""
    return int.from_bytes(blake2b(f"{FLAG_KEY}:{key}".encode(), digest_size=8).digest(), "big") % 10_000


def describe_choice(environment: bool | None, override: Override | None, *, is_provided: bool = False) -> str:
    """Describe which loop the next run uses, and why; `is_provided`: there is a flag provider."""
    if environment is False:
        return "Every run uses the legacy loop: TOOL_LOOP_V2=false in the settings, which cannot be overridden."
    if override is not None and override.state == "percent":
        return f"{override.percent} % of the conversations use the V2 loop, the others the legacy loop."
    if override is None and is_provided:
        return "The flag provider (SIGNALBOX_FLAG_PROVIDER) chooses the loop of each run."
    choice = choose_loop(environment, override, key="")
    without_override = "TOOL_LOOP_V2=true is set" if environment else "this is the default"
    why = "an override is set" if override else without_override
    return f"Every run uses the {'V2' if choice.loop == 'v2' else 'legacy'} loop: {why}."


def _choice(loop: LoopName, reason: str) -> Choice:
    return Choice(loop, Flag(variant=loop, reason=reason))
