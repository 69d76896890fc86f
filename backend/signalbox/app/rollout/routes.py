"""/api/rollout: the guarded rollout of V2 and its audit log; for the operator."""

from typing import cast

from fastapi import APIRouter, Request

from signalbox.app.access import OperatorDep
from signalbox.app.audit.entries import actor_of
from signalbox.app.audit.pages import EntryBefore, audit_page
from signalbox.app.audit.response_types import AuditLog
from signalbox.app.deps import Services, ServicesDep
from signalbox.app.openapi.document import BODY_ERRORS, api_errors, json_body, json_response
from signalbox.app.openapi.rollout_bodies import StartRollout
from signalbox.app.openapi.rollout_types import RolloutPlan, RolloutReport, RolloutState
from signalbox.app.request.body import read_model
from signalbox.app.request.paging import Limit
from signalbox.app.request.query_parameters import KnownParameters
from signalbox.core.operation.audit import OF_THE_ROLLOUT
from signalbox.rollout.plan import Plan
from signalbox.store.audit import AuditFilter

router = APIRouter(prefix="/api/rollout", tags=["rollout"], route_class=KnownParameters)
_BODY_LIMIT = 20_000


@router.get("", response_model=None, responses={200: json_response(RolloutState), **api_errors()})
async def get_rollout(services: ServicesDep, _: OperatorDep) -> RolloutState:
    """Return the rollout plan, the figures of both loops and the guard's assessment; needs the operator token."""
    return await _state(services)


@router.put(
    "",
    response_model=None,
    responses={200: json_response(RolloutState), **api_errors(*BODY_ERRORS)},
    openapi_extra=json_body(StartRollout),
)
async def start_rollout(request: Request, services: ServicesDep, operator: OperatorDep) -> RolloutState:
    """Start a rollout, or replace the running one; needs the operator token.

    The percentage of a running rollout stays until the guard raises it.
    """
    wanted = await read_model(request, StartRollout, _BODY_LIMIT)
    wanted.check()
    await services.rollout.start(wanted.mode, wanted.plan_stages, wanted.holdback, actor_of(operator))
    return await _state(services)


@router.delete("", response_model=None, responses={200: json_response(RolloutState), **api_errors()})
async def end_rollout(services: ServicesDep, operator: OperatorDep) -> RolloutState:
    """End the running rollout and leave the flag as it is; needs the operator token."""
    await services.rollout.end(actor_of(operator))
    return await _state(services)


@router.get("/audit", response_model=None, responses={200: json_response(AuditLog), **api_errors()})
async def list_changes(
    services: ServicesDep,
    _: OperatorDep,
    limit: Limit = 50,
    before: EntryBefore = None,
) -> AuditLog:
    """List the changes of the flag and the rollout, newest first; needs the operator token."""
    return await audit_page(services, limit, before, AuditFilter(actions=frozenset(OF_THE_ROLLOUT)))


async def _state(services: Services) -> RolloutState:
    plan, report = await services.rollout.current()
    if plan is None:
        return {"plan": None, "assessment": "There is no rollout plan.", "report": None}
    found = cast(RolloutReport, report) if report else None
    assessment = found["assessment"] if found else "The guard has not looked yet."
    is_current = plan.is_running or (plan.is_watched and found is not None)
    return {"plan": _plan(plan), "assessment": assessment if is_current else plan.reason, "report": found}


def _plan(plan: Plan) -> RolloutPlan:
    stages = [(one.percent, one.minutes, one.runs) for one in plan.stages]
    return {
        "id": plan.id,
        "mode": plan.mode,
        "stages": [{"percent": percent, "minutes": minutes, "runs": runs} for percent, minutes, runs in stages],
        "holdback": plan.holdback,
        "state": plan.state,
        "stage": plan.stage + 1,
        "percent": plan.percent,
        "watched": plan.is_watched,
        "started": plan.started,
        "stage_started": plan.stage_started,
    }
