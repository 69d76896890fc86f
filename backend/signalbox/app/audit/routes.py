"""/api/audit: what operators, the guard of the rollout and the command line have changed; for the operator."""

from typing import Annotated

from fastapi import APIRouter, Query

from signalbox.app.access import OperatorDep
from signalbox.app.audit.pages import EntryBefore, audit_page
from signalbox.app.audit.response_types import AuditLog
from signalbox.app.deps import ServicesDep
from signalbox.app.openapi.document import api_errors, json_response
from signalbox.app.request.paging import Limit
from signalbox.app.request.query_parameters import KnownParameters
from signalbox.app.request.times import Moment, time_of
from signalbox.core.operation.audit import Action
from signalbox.store.audit import AuditFilter

router = APIRouter(prefix="/api/audit", tags=["audit"], route_class=KnownParameters)
_MOST_VALUES = 50
_Actor = Annotated[str, Query(max_length=256)]


@router.get("", response_model=None, responses={200: json_response(AuditLog), **api_errors()})
async def list_audit_entries(
    services: ServicesDep,
    _: OperatorDep,
    *,
    action: Annotated[
        tuple[Action, ...],
        Query(max_length=_MOST_VALUES, description="Only this action. Repeat it to select several."),
    ] = (),
    actor: Annotated[
        tuple[_Actor, ...],
        Query(max_length=_MOST_VALUES, description="Only changes of this actor. Repeat it to select several."),
    ] = (),
    since: Annotated[Moment, Query(description="Only changes at this time or later. ISO or epoch seconds.")] = None,
    until: Annotated[Moment, Query(description="Only changes before this time. ISO or epoch seconds.")] = None,
    limit: Limit = 50,
    before: EntryBefore = None,
) -> AuditLog:
    """List who has changed what, newest first; needs the operator token."""
    wanted = AuditFilter(frozenset(action), frozenset(actor), time_of(since, "since"), time_of(until, "until"))
    return await audit_page(services, limit, before, wanted)
