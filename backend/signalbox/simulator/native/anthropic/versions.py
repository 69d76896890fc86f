"""The version of a Claude model, and what it accepts."""

import re
from dataclasses import dataclass

_NEW = re.compile(r"claude-(?P<kind>[a-z]+)-(?P<major>\d+)(?:-(?P<minor>\d{1,2}))?(?:-\d{8})?")
_OLD = re.compile(r"claude-(?P<major>\d)(?:-(?P<minor>\d))?-(?P<kind>[a-z]+)(?:-\d{8}|-latest)?")


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


def alias_of(model: str) -> str:
    """Return a native id as OpenRouter writes it: without the date, with a point in the version."""
    match = _NEW.fullmatch(model)
    if not match:
        return model
    minor = f".{match['minor']}" if match["minor"] else ""
    return f"claude-{match['kind']}-{match['major']}{minor}"


def is_claude(model: str) -> bool:
    """Return whether a native id is that of a Claude model."""
    return _NEW.fullmatch(model) is not None or _OLD.fullmatch(model) is not None
