"""The port of a flag provider: it may choose the loop of a run instead of the environment and the default."""

from typing import Protocol

from msgspec import Struct

from signalbox.flags.choice import Choice


class Target(Struct, frozen=True):
    """The run for which a flag is evaluated.

    `key` is the id of its conversation, or of the run if it has none. `owner` is the id of the API token or the user,
    empty without one.
    """

    key: str
    protocol: str = ""
    family: str = ""
    owner: str = ""


class FlagProvider(Protocol):
    """Evaluates the flag `tool_loop_v2`, in this process and without waiting."""

    def choose(self, target: Target) -> Choice | None:
        """Return the loop with the provider's variant and reason, None if it could not evaluate the flag."""
        ...
