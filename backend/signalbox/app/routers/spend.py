"""/api/spend: what runs have cost, by owner, model, day or group."""

import csv
from collections.abc import Mapping, Sequence
from datetime import date
from io import StringIO
from time import time
from typing import Annotated, Literal

import orjson
from fastapi import APIRouter, Query, Response

from signalbox.app.access import Caller, CallerDep
from signalbox.app.deps import Services, ServicesDep
from signalbox.app.openapi.document import Responses, api_errors, json_response
from signalbox.app.openapi.spend_types import Spend, SpendRow, SpendTotal
from signalbox.app.request.owners import names_of_owners
from signalbox.app.request.query_parameters import KnownParameters
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.store.spend.accounts import day_of
from signalbox.store.spend.report import By, Spent, spend_by

router = APIRouter(prefix="/api/spend", tags=["spend"], route_class=KnownParameters)
_JSON = json_response(Spend)
_RESPONSES: Responses = {200: {**_JSON, "content": {**_JSON["content"], "text/csv": {}}}, **api_errors()}
_COLUMNS = ("name", "runs", "cost", "estimated", "estimated_runs")
# Spreadsheets execute cells that begin with one of these.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@router.get("", response_model=None, responses=_RESPONSES)
async def get_spend(
    services: ServicesDep,
    caller: CallerDep,
    *,
    from_: Annotated[
        date | None, Query(alias="from", description="The first UTC day; default: of the month of `to`.")
    ] = None,
    to: Annotated[date | None, Query(description="The last UTC day; default: today.")] = None,
    group_by: By = "day",
    format_: Annotated[Literal["json", "csv"], Query(alias="format")] = "json",
) -> Response:
    """Return what runs have cost. The operator gets the costs of all owners, any other client its own.

    A run counts on the UTC day of its start. Runs that were deleted are included, active ones are not.
    """
    last = str(to or day_of(time()))
    first = str(from_ or f"{last[:7]}-01")
    if first > last:
        raise RequestError(Code.INVALID_REQUEST, f"from ({first}) is after to ({last}).", "from")
    owner = None if caller.is_operator else caller.owner
    found = await services.database.read(spend_by, group_by, first, last, owner)
    names = await _names(services, caller, group_by)
    rows = [_row(one, names) for one in found]
    if format_ == "csv":
        return _as_csv(group_by, rows)
    body: Spend = {
        "first_day": first,
        "last_day": last,
        "group_by": group_by,
        "all_owners": caller.is_operator,
        "rows": rows,
        "total": _total(found),
    }
    return Response(orjson.dumps(body), media_type="application/json")


async def _names(services: Services, caller: Caller, by: By) -> Mapping[str, str]:
    if by != "owner":
        return {}
    if not caller.is_operator:
        return {caller.owner: caller.name} if caller.name else {}
    return await names_of_owners(services)


def _row(spent: Spent, names: Mapping[str, str]) -> SpendRow:
    return {"key": spent.key, "name": names.get(spent.key), **_total([spent])}


def _total(spent: Sequence[Spent]) -> SpendTotal:
    return {
        "runs": sum(one.runs for one in spent),
        "cost": round(sum(one.cost for one in spent), 9),
        "estimated": round(sum(one.estimated for one in spent), 9),
        "estimated_runs": sum(one.estimated_runs for one in spent),
    }


def _as_csv(by: By, rows: Sequence[SpendRow]) -> Response:
    text = StringIO()
    writer = csv.writer(text)
    writer.writerow([by, *_COLUMNS])
    writer.writerows([_cell(row["key"]), *(_cell(row[name]) for name in _COLUMNS)] for row in rows)
    headers = {"content-disposition": f'attachment; filename="spend-by-{by}.csv"'}
    return Response(text.getvalue(), media_type="text/csv; charset=utf-8", headers=headers)


def _cell(value: str | float | None) -> str:
    if isinstance(value, float):
        return f"{value:.9f}".rstrip("0").rstrip(".")
    words = "" if value is None else str(value)
    return f"'{words}" if words.startswith(_FORMULA) else words
