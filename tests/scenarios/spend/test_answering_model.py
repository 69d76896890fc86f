"""A fallback model that answers in place of the requested one pays: in spend, in lists and in statistics."""

from typing import Any

import pytest

from tests.scenarios.access.users import bearer
from tests.scenarios.metrics.test_fallbacks import answers_as
from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp

ADMIN = "operator-operator"
SETTINGS = {"signalbox_admin_token": ADMIN}
ASKED, OTHER = "openai/sim", "anthropic/other"


def listed(app: RunningApp, path: str, **params: str) -> dict[str, Any]:
    """Read something as the operator."""
    app.within(app.parts.runs.store.flush())
    response = app.client.get(f"/api/{path}", params=params, headers=bearer(ADMIN))
    assert response.status_code == 200, response.text
    return response.json()


@pytest.mark.parametrize("loop", [True, False])
def test_the_model_that_answered_pays(start_app: StartApp, *, loop: bool) -> None:
    """The requested model has neither the run nor its cost."""
    app, _ = start_app(answers_as(f"{OTHER}-20260807", 0.25), settings={**SETTINGS, "tool_loop_v2": loop})
    done = app.ask(model=ASKED, models=[OTHER], tools=[]).done
    assert (done["requested_model"], done["model"]) == (ASKED, f"{OTHER}-20260807")
    rows = listed(app, "spend", group_by="model")["rows"]
    assert [(row["key"], row["runs"], row["cost"]) for row in rows] == [(OTHER, 1, 0.25)]
    (run,) = listed(app, "runs", model=OTHER)["runs"]
    assert (run["model"], run["fallback_model"], run["cost"]) == (ASKED, OTHER, 0.25)
    (bucket,) = listed(app, "run-stats", model=OTHER)["buckets"]
    assert (bucket["runs"], bucket["cost"]) == (1, 0.25)
    assert listed(app, "runs", model=ASKED)["runs"] == listed(app, "run-stats", model=ASKED)["buckets"] == []
    (attempt,) = listed(app, f"runs/{run['run_id']}")["attempts"]
    assert (attempt["model"], attempt["fallback_model"]) == (ASKED, OTHER)


def test_the_last_answer_decides(start_app: StartApp) -> None:
    """As in `done.model`; without an answer, the requested model has the run."""
    app, _ = start_app(answers_as(ASKED), settings=SETTINGS)
    app.ask(model=ASKED, models=[OTHER], tools=[])
    app.ask(model=ASKED, tools=[])
    rows = listed(app, "spend", group_by="model")["rows"]
    assert [(row["key"], row["runs"]) for row in rows] == [(ASKED, 2)]
    assert [run.get("fallback_model") for run in listed(app, "runs", model=ASKED)["runs"]] == [None, None]
