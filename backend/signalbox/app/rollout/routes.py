"""/api/rollout: the guarded rollout of V2 and its audit log; for the operator."""

from typing import Annotated, cast

from fastapi import APIRouter, Query, Request

from signalbox.app.access import OperatorDep
from signalbox.app.deps import Services, ServicesDep
from signalbox.app.openapi.document import BODY_ERRORS, api_errors, json_body, json_response
from signalbox.app.openapi.rollout_bodies import StartRollout
from signalbox.app.openapi.rollout_types import AuditLog, RolloutPlan, RolloutReport, RolloutState
from signalbox.app.request.body import read_model
from signalbox.app.request.paging import Limit
from signalbox.app.request.query_parameters import KnownParameters
from signalbox.rollout.plan import Plan
from signalbox.store.audit import list_audit

router = APIRouter(prefix="/api/rollout", tags=["rollout"], route_class=KnownParameters)
_BODY_LIMIT = 20_000
_MOST_ID = 2**31 - 1


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
async def start_rollout(request: Request, services: ServicesDep, _: OperatorDep) -> RolloutState:
    """Start a rollout, or replace the running one; needs the operator token.

    A running rollout goes on at the first stage that does not lower its percentage.
    """
    wanted = await read_model(request, StartRollout, _BODY_LIMIT)
    await services.rollout.start(wanted.mode, wanted.plan_stages, wanted.holdback)
    return await _state(services)


@router.delete("", response_model=None, responses={200: json_response(RolloutState), **api_errors()})
async def end_rollout(services: ServicesDep, _: OperatorDep) -> RolloutState:
    """End the running rollout and leave the flag as it is; needs the operator token."""
    await services.rollout.end()
    return await _state(services)


@router.get("/audit", response_model=None, responses={200: json_response(AuditLog), **api_errors()})
async def list_changes(
    services: ServicesDep,
    _: OperatorDep,
    limit: Limit = 50,
    before: Annotated[int | None, Query(ge=1, le=_MOST_ID, description="The `next` of the previous page.")] = None,
) -> AuditLog:
    """List what operators and the guard have changed, newest first; needs the operator token."""
    found = await services.database.read(list_audit, limit + 1, before)
    entries = found[:limit]
    return {
        "entries": [
            {"id": one.id, "at": one.at, "actor": one.actor, "action": one.action, "details": one.details}
            for one in entries
        ],
        "next": entries[-1].id if len(found) > limit else None,
    }


async def _state(services: Services) -> RolloutState:
    plan, report = await services.rollout.current()
    if plan is None:
        return {"plan": None, "assessment": "There is no rollout plan.", "report": None}
    found = cast(RolloutReport, report) if report else None
    assessment = found["assessment"] if found else "The guard has not looked yet."
    return {"plan": _plan(plan), "assessment": assessment if plan.is_running else plan.reason, "report": found}


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
        "started": plan.started,
        "stage_started": plan.stage_started,
    }
