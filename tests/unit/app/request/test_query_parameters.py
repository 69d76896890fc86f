"""Unknown query parameters of the API are a 422 that names them; probes, pages and files accept any."""

import pytest

from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp, error_of
from tests.support.scripted_upstream import holds, says, sends


def test_every_endpoint_of_the_api_refuses_what_it_does_not_know(app: RunningApp) -> None:
    """A misspelt filter is rejected by every method, and nothing is read, started or deleted."""
    operations = app.client.get("/openapi.json").json()["paths"]
    asked = 0
    for path, methods in operations.items():
        for method, operation in methods.items():
            if not path.startswith("/api/"):
                continue
            answer = app.client.request(method.upper(), path, params={"colour": "red"})
            words = answer.text
            if not path.startswith("/api/ai/"):  # its errors are sentences
                error = error_of(answer)
                assert (error["code"], error["field"]) == ("UNKNOWN_FIELD", "colour"), path
                words = error["message"]
            known = sorted(one["name"] for one in operation.get("parameters", []) if one["in"] == "query")
            assert answer.status_code == 422, path
            assert (f"It takes {', '.join(known)}." if known else "It takes none.") in words
            asked += 1
    assert asked > 15


@pytest.mark.parametrize("path", ["/health/live", "/health/ready", "/openapi.json", "/docs", "/guide/api.md", "/"])
def test_probes_pages_and_files_take_any(app: RunningApp, path: str) -> None:
    """Caches and probes add parameters."""
    assert app.client.get(f"{path}?_=1795227719").status_code == 200


@pytest.mark.parametrize("query", ["limit", "=1", "%FF=1", f"{'x' * 4000}=1", "limit=1&Limit=1", "status[]=error"])
def test_odd_queries_are_refused_in_a_short_sentence(app: RunningApp, query: str) -> None:
    """Names may be empty, invalid or long; a known name without a value is an invalid value."""
    answer = app.client.get(f"/api/runs?{query}")
    assert answer.status_code == 422
    assert len(error_of(answer)["message"]) < 300


def test_runs_are_listed_by_status(start_app: StartApp) -> None:
    """Runs can be filtered by one or several statuses, active ones too, page by page."""
    app, _ = start_app(says("Yes."), sends(status=400), says("Yes."), sends(status=401), sends(status=400), holds)
    done, first, _, second, third = [app.post(prompt="Hello!", tools=[]).headers["x-run-id"] for _ in range(5)]

    def listed(query: str) -> tuple[list[str], str | None]:
        page = app.client.get(f"/api/runs?{query}").json()
        return [run["run_id"] for run in page["runs"]], page["next"]

    assert listed("status=error") == ([third, second, first], None)
    newest, following = listed("status=error&limit=2")
    assert newest == [third, second]
    assert listed(f"status=error&limit=2&before={following}") == ([first], None)
    assert len(listed("status=error&status=complete")[0]) == 5
    assert done in listed("status=complete")[0]
    assert listed("status=cancelled") == ([], None)
    with app.asking(tools=[]) as response:
        assert listed("status=running") == ([response.headers["x-run-id"]], None)
    assert error_of(app.client.get("/api/runs?status=failed"))["field"] == "status"


def test_a_parameter_with_one_value_may_not_be_repeated(app: RunningApp) -> None:
    """At every endpoint of the API: only the last value would count."""
    operations = app.client.get("/openapi.json").json()["paths"]
    asked: set[str] = set()
    for path, methods in operations.items():
        parameters = methods.get("get", {}).get("parameters", [])
        single = [one["name"] for one in parameters if one["in"] == "query" and one["schema"].get("type") != "array"]
        for name in single if path.startswith("/api/") and not path.startswith("/api/ai/") else ():
            answer = app.client.get(f"{path}?{name}=1&{name}=1")
            error = error_of(answer)
            assert (answer.status_code, error["field"]) == (422, name), path
            assert error["message"].startswith(f"{name} takes one value. Send it once.")
            asked.add(name)
    assert {"since", "until", "q", "limit", "before", "bucket", "from", "search", "after"} <= asked
