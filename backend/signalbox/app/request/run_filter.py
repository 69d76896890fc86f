"""The query parameters that filter runs."""

from typing import Annotated, Any, Literal, TypeAlias

from fastapi import Depends, Query

from signalbox.app.access import Caller, CallerDep
from signalbox.app.protocols import PROTOCOLS
from signalbox.app.request.times import Moment, time_of
from signalbox.core.codes import CODES, Code
from signalbox.core.conversations import case_folded
from signalbox.core.errors import RequestError
from signalbox.core.events import LoopName, Status
from signalbox.core.records import RunFilter

_MOST_VALUES = 50
_LONGEST = 256


def _several(description: str) -> Any:
    return Query(max_length=_MOST_VALUES, description=f"{description} Repeat it to select several.")


_Text = Annotated[str, Query(max_length=_LONGEST)]
Wanted: TypeAlias = Annotated[tuple[Literal[Status, "running"], ...], _several("Only runs of this status.")]
Names: TypeAlias = tuple[_Text, ...]


async def _run_filter(
    caller: CallerDep,
    *,
    status: Wanted = (),
    code: Annotated[Names, _several("Only runs that ended with this code.")] = (),
    model: Annotated[Names, _several("Only runs that this model answered.")] = (),
    loop: Annotated[tuple[LoopName, ...], _several("Only runs of this loop.")] = (),
    protocol: Annotated[Names, _several("Only runs of this client protocol.")] = (),
    owner: Annotated[Names, _several("Only runs of this owner: the id of an API token, or empty.")] = (),
    tool: Annotated[Names, _several("Only runs that called this tool.")] = (),
    since: Annotated[Moment, Query(description="Only runs that started at this time or later. ISO or epoch.")] = None,
    until: Annotated[Moment, Query(description="Only runs that started before this time. ISO or epoch.")] = None,
    q: Annotated[
        str | None, Query(max_length=200, description="Only runs in your conversations with this question or answer.")
    ] = None,
) -> RunFilter:
    """Return the filter of a request; raises RequestError. Only the operator gets runs of other owners."""
    owners = _owners(caller, owner)
    return RunFilter(
        owners=owners,
        statuses=frozenset(None if one == "running" else one for one in status),
        codes=_codes(code),
        models=frozenset(model),
        loops=frozenset(loop),
        protocols=_protocols(protocol),
        tools=frozenset(tool),
        since=time_of(since, "since"),
        until=time_of(until, "until"),
        text=case_folded((q or "").strip()),
        reader=caller.owner,
    )


def _codes(asked: Names) -> frozenset[str]:
    """Check the codes; raises RequestError."""
    for code in asked:
        if code not in CODES:
            words = f"There is no code {code!r}. docs/sse-contract.md lists the codes."
            raise RequestError(Code.INVALID_REQUEST, words, "code")
    return frozenset(asked)


def _protocols(asked: Names) -> frozenset[str]:
    """Check the names of protocols; raises RequestError."""
    known = sorted({protocol.name for protocol in PROTOCOLS})
    for name in asked:
        if name not in known:
            words = f"There is no protocol {name!r}. Use one of {', '.join(known)}."
            raise RequestError(Code.INVALID_REQUEST, words, "protocol")
    return frozenset(asked)


RunFilterDep = Annotated[RunFilter, Depends(_run_filter)]


def _owners(caller: Caller, asked: tuple[str, ...]) -> frozenset[str]:
    """Return the owners whose runs a caller gets; an empty set are all owners."""
    if caller.is_operator:
        return frozenset(asked)
    if any(not caller.owns(owner) for owner in asked):
        words = "Only the operator token can list runs of other owners. Leave out owner to list your own runs."
        raise RequestError(Code.INVALID_REQUEST, words, "owner")
    return frozenset({caller.owner})
