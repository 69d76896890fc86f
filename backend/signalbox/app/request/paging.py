"""Pages of a list, the newest first: a cursor is the time and the id of the last one that was shown."""

from typing import Annotated

from fastapi import Query

# An id breaks the tie between two of one moment; a page stays where it is when its last line is deleted.
_PATTERN = r"^-?[0-9]{1,16}(\.[0-9]{1,16})?_[A-Za-z0-9_.:\-]{1,256}$"

Limit = Annotated[int, Query(ge=1, le=200)]
Before = Annotated[str | None, Query(pattern=_PATTERN, description="The `next` of the page before")]


def cursor_in(before: str | None) -> tuple[float, str] | None:
    """Read the time (epoch seconds) and the id that a page is older than."""
    if before is None:
        return None
    at, _, found = before.partition("_")
    return float(at), found


def cursor_at(at: float, last_id: str) -> str:
    """Write the cursor behind the last line of a page."""
    return f"{at!r}_{last_id}"
