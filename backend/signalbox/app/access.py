"""Who asks: the owner of what is made, and what they may see of others'."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request


@dataclass(frozen=True, slots=True)
class Who:
    """Who asks. `owner` is the API token's id; empty for whoever needs none, and for the operator."""

    owner: str = ""
    is_operator: bool = False

    def may_see(self, owner: str) -> bool:
        """Whether a run of this owner may be read and stopped: one's own, and by the operator any."""
        return self.is_operator or owner == self.owner


ANYBODY = Who()


async def _who(request: Request) -> Who:
    # The gate has put it there; without a gate before them (tests of single routes) everybody is the same.
    return getattr(request.state, "who", ANYBODY)


WhoDep = Annotated[Who, Depends(_who)]
