"""Paging of lists, the newest first: a cursor is the time and the id of the last item of a page."""

from typing import Annotated

from fastapi import Query

# The id breaks ties of equal times. A cursor stays valid if its item is deleted.
_PATTERN = r"^-?[0-9]{1,16}(\.[0-9]{1,16})?_[A-Za-z0-9_.:\-]{1,256}$"

Limit = Annotated[int, Query(ge=1, le=200)]
Before = Annotated[str | None, Query(pattern=_PATTERN, description="The `next` of the previous page.")]


def cursor_in(before: str | None) -> tuple[float, str] | None:
    """Return the time (epoch seconds) and the id of a cursor; the page has older items."""
    if before is None:
        return None
    at, _, found = before.partition("_")
    return float(at), found


def cursor_at(at: float, last_id: str) -> str:
    """Return the cursor after the last item of a page."""
    return f"{at!r}_{last_id}"
