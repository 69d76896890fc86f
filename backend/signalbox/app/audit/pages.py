"""Pages of the audit log as JSON."""

from typing import Annotated

from fastapi import Query

from signalbox.app.audit.response_types import AuditLog
from signalbox.app.deps import Services
from signalbox.store.audit import AuditFilter, list_audit

_MOST_ID = 2**31 - 1

EntryBefore = Annotated[int | None, Query(ge=1, le=_MOST_ID, description="The `next` of the previous page.")]


async def audit_page(services: Services, limit: int, before: int | None, wanted: AuditFilter) -> AuditLog:
    """Return the newest entries that match, those before the cursor."""
    found = await services.database.read(list_audit, limit + 1, before, wanted)
    entries = found[:limit]
    return {
        "entries": [
            {"id": one.id, "at": one.at, "actor": one.actor, "action": one.action, "details": one.details}
            for one in entries
        ],
        "next": entries[-1].id if len(found) > limit else None,
    }
