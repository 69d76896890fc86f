"""/api/rollout/shadow: what shadow mode has found; for the operator."""

from time import time
from typing import get_args

from fastapi import APIRouter
from msgspec import convert

from signalbox.app.access import OperatorDep
from signalbox.app.deps import ServicesDep
from signalbox.app.openapi.document import api_errors, json_response
from signalbox.app.openapi.shadow_types import ShadowDifference, ShadowReport, ShadowResult
from signalbox.app.request.paging import Limit
from signalbox.app.request.query_parameters import KnownParameters
from signalbox.core.codes import Code
from signalbox.store import shadow_runs as stored

router = APIRouter(prefix="/api/rollout/shadow", tags=["flags"], route_class=KnownParameters)
_DAY = 24 * 3600.0


@router.get("", response_model=None, responses={200: json_response(ShadowReport), **api_errors(Code.INVALID_REQUEST)})
async def get_shadow_report(services: ServicesDep, _: OperatorDep, limit: Limit = 20) -> ShadowReport:
    """Return how runs differed on the other loop, and what shadow mode has cost; needs the operator token."""
    now = time()
    read = services.database.read
    counts = await read(stored.count_outcomes)
    newest = await read(stored.newest_shadows, "unexpected", limit)
    return {
        "percent": services.settings.signalbox_shadow_percent,
        "daily_cost": services.settings.signalbox_shadow_daily_cost,
        "cost_today": await read(stored.cost_since, now - now % _DAY),
        "cost": await read(stored.cost_since, 0.0),
        "counts": {outcome: counts.get(outcome, 0) for outcome in get_args(stored.ShadowOutcome)},
        "newest": [_result(one) for one in newest],
    }


def _result(run: stored.ShadowRun) -> ShadowResult:
    values = {name: getattr(run, name) for name in stored.ShadowRun.__slots__}
    differences = [convert(one, ShadowDifference) for one in run.differences]
    return convert({**values, "differences": differences}, ShadowResult)
