"""The query parameters that filter runs."""

from datetime import UTC, datetime
from math import isfinite
from typing import Annotated, Any, Literal, TypeAlias

from fastapi import Depends, Query

from signalbox.app.access import Caller, CallerDep
from signalbox.core.codes import Code
from signalbox.core.conversations import case_folded
from signalbox.core.errors import RequestError
from signalbox.core.events import LoopName, Status
from signalbox.core.records import RunFilter

_MOST_VALUES = 50
_LONGEST = 256
# The year 9999; a later time is milliseconds instead of seconds.
_LATEST = 253_402_300_800.0


def _several(description: str) -> Any:
    return Query(max_length=_MOST_VALUES, description=f"{description} Repeat it to select several.")


_Text = Annotated[str, Query(max_length=_LONGEST)]
Wanted: TypeAlias = Annotated[tuple[Literal[Status, "running"], ...], _several("Only runs of this status.")]
Names: TypeAlias = tuple[_Text, ...]
Time: TypeAlias = str | None


async def _run_filter(
    caller: CallerDep,
    *,
    status: Wanted = (),
    code: Annotated[Names, _several("Only runs that ended with this code.")] = (),
    model: Annotated[Names, _several("Only runs with this model id.")] = (),
    loop: Annotated[tuple[LoopName, ...], _several("Only runs of this loop.")] = (),
    protocol: Annotated[Names, _several("Only runs of this client protocol.")] = (),
    owner: Annotated[Names, _several("Only runs of this owner: the id of an API token, or empty.")] = (),
    tool: Annotated[Names, _several("Only runs that called this tool.")] = (),
    since: Annotated[Time, Query(description="Only runs that started at this time or later. ISO or epoch.")] = None,
    until: Annotated[Time, Query(description="Only runs that started before this time. ISO or epoch.")] = None,
    q: Annotated[
        str | None, Query(max_length=200, description="Only runs in your conversations with this question or answer.")
    ] = None,
) -> RunFilter:
    """Return the filter of a request; raises RequestError. Only the operator gets runs of other owners."""
    owners = _owners(caller, owner)
    return RunFilter(
        owners=owners,
        statuses=frozenset(None if one == "running" else one for one in status),
        codes=frozenset(code),
        models=frozenset(model),
        loops=frozenset(loop),
        protocols=frozenset(protocol),
        tools=frozenset(tool),
        since=_time_of(since, "since"),
        until=_time_of(until, "until"),
        text=case_folded((q or "").strip()),
        reader=caller.owner,
    )


RunFilterDep = Annotated[RunFilter, Depends(_run_filter)]


def _owners(caller: Caller, asked: tuple[str, ...]) -> frozenset[str]:
    """Return the owners whose runs a caller gets; an empty set are all owners."""
    if caller.is_operator:
        return frozenset(asked)
    if any(not caller.owns(owner) for owner in asked):
        words = "Only the operator token can list runs of other owners. Leave out owner to list your own runs."
        raise RequestError(Code.INVALID_REQUEST, words, "owner")
    return frozenset({caller.owner})


def _time_of(value: str | None, field: str) -> float | None:
    """Return the epoch seconds of a query parameter."""
    if value is None:
        return None
    try:
        found = float(value)
    except ValueError:
        found = _iso_time_of(value, field)
    if not isfinite(found):
        raise _no_time(field)
    if found >= _LATEST:
        raise RequestError(Code.INVALID_REQUEST, f"{field} must be in epoch seconds, not milliseconds.", field)
    return found


def _iso_time_of(value: str, field: str) -> float:
    """Return the epoch seconds of an ISO time, which is in UTC unless it says otherwise."""
    try:
        # An unencoded plus in a query is a space.
        time = datetime.fromisoformat(value.replace(" ", "+") if "T" in value else value)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise _no_time(field) from None


def _no_time(field: str) -> RequestError:
    words = f"{field} must be a time such as 2026-11-28T06:00:00Z, or epoch seconds such as 1795845600."
    return RequestError(Code.INVALID_REQUEST, words, field)
