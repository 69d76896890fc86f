"""`GET /api/spend`: what runs have cost, for the operator and for a token."""

import csv
from collections.abc import Iterator
from datetime import UTC, datetime
from io import StringIO
from typing import Any

import pytest

from tests.scenarios.access.users import User, UserApp, serve_users
from tests.support.running_app import error_of


@pytest.fixture
def users(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UserApp]:
    """Serve an app whose users have each asked something."""
    with serve_users(tmp_path_factory.mktemp("data")) as made:
        for name in ("ada", "ada", "bob", "guest"):
            made[name].ask()
        made["bob"].ask(model="anthropic/sim")
        made.app.within(made.app.parts.runs.store.flush())
        yield made


def spend(user: User, **params: str) -> dict[str, Any]:
    """Return what was spent."""
    response = user.client.get("/api/spend", params=params)
    assert response.status_code == 200, response.text
    return response.json()


def cost_of(user: User) -> Any:
    """Return what the runs that a user sees cost."""
    return pytest.approx(sum(run["cost"] for run in user.listed("runs", limit=200)), abs=1e-8)


def test_the_operator_sees_all_owners_by_name(users: UserApp) -> None:
    """The sums are those of the runs; runs without a token have an empty key."""
    found = spend(users["operator"], group_by="owner")
    assert found["all_owners"]
    rows = {row["key"]: row for row in found["rows"]}
    assert {key: (row["name"], row["runs"]) for key, row in rows.items()} == {
        users["ada"].owner: ("ada", 2),
        users["bob"].owner: ("bob", 2),
        "": (None, 1),
    }
    total = {"runs": 5, "cost": cost_of(users["operator"]), "estimated": 0, "estimated_runs": 0}
    assert found["total"] == total
    assert rows[users["ada"].owner]["cost"] == cost_of(users["ada"])


def test_a_token_sees_its_own(users: UserApp) -> None:
    """By every key."""
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    for by, keys in (
        ("owner", {users["bob"].owner}),
        ("model", {"openai/sim", "anthropic/sim"}),
        ("day", {today}),
        ("group", {""}),
    ):
        found = spend(users["bob"], group_by=by)
        assert ({row["key"] for row in found["rows"]}, found["total"]["runs"]) == (keys, 2)
        assert not found["all_owners"]


def test_the_default_is_this_month(users: UserApp) -> None:
    """By day, from the first day of the month until today."""
    found = spend(users["operator"])
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    assert (found["group_by"], found["first_day"], found["last_day"]) == ("day", f"{today[:7]}-01", today)
    assert spend(users["operator"], **{"from": "2020-01-01", "to": "2020-12-31"})["rows"] == []


def test_a_csv_has_the_same_rows(users: UserApp) -> None:
    """For a spreadsheet, with a header."""
    response = users["operator"].client.get("/api/spend", params={"group_by": "owner", "format": "csv"})
    assert response.headers["content-type"] == "text/csv; charset=utf-8"
    lines = [*csv.DictReader(StringIO(response.text))]
    rows = spend(users["operator"], group_by="owner")["rows"]
    assert [line["owner"] for line in lines] == [row["key"] for row in rows]
    assert [float(line["cost"]) for line in lines] == [row["cost"] for row in rows]
    assert [*lines[0]] == ["owner", "name", "runs", "cost", "estimated", "estimated_runs"]


def test_deleted_runs_and_conversations_stay_counted(users: UserApp) -> None:
    """Also a conversation that is deleted directly after its answer."""
    before = spend(users["ada"])["total"]
    run_id = users["ada"].ask().headers["x-run-id"]
    assert users["ada"].client.delete(f"/api/runs/{run_id}").status_code == 200
    users["ada"].ask(conversation_id="short-lived")
    assert users["ada"].client.delete("/api/conversations/short-lived").status_code == 200
    after = spend(users["ada"])["total"]
    assert after["runs"] == before["runs"] + 2
    assert after["cost"] > before["cost"]


def test_a_last_day_alone_has_its_month(users: UserApp) -> None:
    """From the first day of its month, also in the past."""
    found = spend(users["operator"], to="2026-10-11")
    assert (found["first_day"], found["last_day"]) == ("2026-10-01", "2026-10-11")


def test_days_in_the_wrong_order_are_refused(users: UserApp) -> None:
    """The message names both."""
    response = users["ada"].client.get("/api/spend", params={"from": "2026-12-01", "to": "2026-11-01"})
    assert (response.status_code, error_of(response)["field"]) == (422, "from")
