"""Query parameters of requests."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any


def run_query(status: str | Sequence[str], filters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the query of a filter. A parameter with several values is repeated."""
    return {name: _values(value) for name, value in {"status": status, **filters}.items()}


def _values(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.timestamp()
    return [*value] if isinstance(value, Sequence) and not isinstance(value, str) else value


def spend_query(group_by: str, first: str | date | None, last: str | date | None) -> dict[str, str]:
    """Return the query of the costs from a first to a last day."""
    days = {"from": first, "to": last}
    return {"group_by": group_by, **{name: str(day) for name, day in days.items() if day is not None}}
