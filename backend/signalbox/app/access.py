"""Who asks: the owner of what is made, and what they may see of others'."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from signalbox.core.errors import Code, RequestError
from signalbox.core.records import RunRecord
from signalbox.runs.manager import RunManager


@dataclass(frozen=True, slots=True)
class Who:
    """Who asks. `owner` is the API token's id; empty for whoever needs none, and for the operator."""

    owner: str = ""
    is_operator: bool = False

    def may_see(self, owner: str) -> bool:
        """Whether a run of this owner may be read and stopped: one's own, and by the operator any."""
        return self.is_operator or self.owns(owner)

    def owns(self, owner: str) -> bool:
        """Whether this is one's own: what is kept on is kept by its owner alone."""
        return owner == self.owner


ANYBODY = Who()


async def _who(request: Request) -> Who:
    # The gate has put it there; without a gate before them (tests of single routes) everybody is the same.
    return getattr(request.state, "who", ANYBODY)


WhoDep = Annotated[Who, Depends(_who)]


async def run_of(run_id: str, runs: RunManager, who: Who) -> RunRecord:
    """Return a run that may be seen; raises RequestError UNKNOWN_RUN for any other, whether it exists or not."""
    record = await runs.find(run_id)
    if not who.may_see(record.owner):
        raise RequestError(Code.UNKNOWN_RUN)
    return record


async def own_run_of(run_id: str, runs: RunManager, who: Who) -> RunRecord:
    """Return a run of one's own; raises RequestError UNKNOWN_RUN for any other, whether it exists or not."""
    record = await runs.find(run_id)
    if not who.owns(record.owner):
        raise RequestError(Code.UNKNOWN_RUN)
    return record
