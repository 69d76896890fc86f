"""Filters of the list of runs, the export and the statistics, over HTTP."""

import json
from collections.abc import AsyncGenerator, Iterator
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest
from signalbox.app.request.run_pages import RunPages, Summaries
from signalbox.app.routers import run_reports
from signalbox.core.codes import Code
from signalbox.core.errors import StoreError
from signalbox.core.records import Figures, RunFilter, RunRecord
from signalbox.runs.manager import RunManager
from signalbox.store.runs.in_memory import MemoryStore

from tests.scenarios.access.users import User, UserApp, serve_users
from tests.support.disk import a_run
from tests.support.fixtures import StartApp
from tests.support.running_app import WAIT, RunningApp, error_of
from tests.support.scripted_upstream import says

PATHS = ("/api/runs", "/api/runs.ndjson", "/api/run-stats")


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UserApp]:
    """Serve an app in which Ada and Bob have made runs of several kinds."""
    with serve_users(tmp_path_factory.mktemp("data")) as made:
        ada, bob = made["ada"], made["bob"]
        ada.resources = {
            "plain": ask(ada, "Hello!"),
            "tool": ask(ada, "What is 17 * 23?", tools=["calculate", "get_current_time"]),
            "failed": ask(ada, "Hello!", model="openai/sim-error-401"),
            "other model": ask(ada, "Hello!", model="google/sim"),
            "talk": ask(ada, "Where is the Straße of Ada?", conversation_id="talk"),
        }
        bob.resources = {
            "plain": ask(bob, "Hello!"),
            "talk": ask(bob, "Where is Bob's 100% road?", conversation_id="t"),
        }
        yield made


def ask(user: User, prompt: str, **body: Any) -> str:
    """Start a run and return its id."""
    return user.ask(prompt, **body).headers["x-run-id"]


def found(user: User, query: str) -> set[str]:
    """Return the names of the runs that the list has with this query; the export must have the same runs."""
    listed = user.client.get(f"/api/runs?{query}")
    assert listed.status_code == 200, listed.text
    exported = [json.loads(line) for line in user.client.get(f"/api/runs.ndjson?{query}").text.splitlines()]
    assert exported == listed.json()["runs"]
    return {run["run_id"] for run in exported}


def names(user: User, query: str) -> set[str]:
    """Return the names of the user's runs that match a query."""
    ids = found(user, query)
    assert ids <= {*user.resources.values()}
    return {name for name, run_id in user.resources.items() if run_id in ids}


ALL = {"plain", "tool", "failed", "other model", "talk"}


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("", ALL),
        ("status=error", {"failed"}),
        ("status=error&status=complete", ALL),
        ("code=UPSTREAM_AUTH", {"failed"}),
        ("code=LENGTH", set()),
        ("model=google/sim", {"other model"}),
        ("model=google/sim&model=openai/sim-error-401", {"other model", "failed"}),
        ("loop=v2", ALL),
        ("loop=legacy", set()),
        ("protocol=v1.1", ALL),
        ("protocol=ag-ui", set()),
        ("tool=calculate", {"tool"}),
        ("tool=calc", set()),
        ("tool=get_current_time", set()),
        ("tool=search_web&tool=calculate", {"tool"}),
        ("tool=calculate&model=google/sim", set()),
        ("q=STRASSE+of", {"talk"}),
        ("q=Hello", set()),
        ("q=100%25", set()),
        ("since=2020-01-01", ALL),
        ("until=2020-01-01T00:00:00Z", set()),
        ("since=1577836800&until=32503680000", ALL),
        ("since=2999-01-01T00:00:00%2B02:00", set()),
        ("since=2020-01-01T00:00:00+02:00", ALL),
    ],
)
def test_filters_select_runs(users: UserApp, query: str, wanted: set[str]) -> None:
    """All fields must match; of repeated values one. The export has the runs of the list."""
    assert names(users["ada"], query) == wanted


def test_times_include_the_start_and_exclude_the_end(users: UserApp) -> None:
    """A run that starts at `since` matches, one that starts at `until` does not."""
    ada = users["ada"]
    started = ada.client.get(f"/api/runs/{ada.resources['tool']}").json()["started"]
    assert "tool" in names(ada, f"since={started!r}")
    assert names(ada, f"until={started!r}") == {"plain"}


def test_only_the_operator_sees_other_owners(users: UserApp) -> None:
    """A user lists, exports and counts only own runs; the operator can select owners."""
    ada, bob, operator = users["ada"], users["bob"], users["operator"]
    everything = {*ada.resources.values(), *bob.resources.values()}
    assert found(operator, "") == everything
    assert found(operator, f"owner={bob.owner}") == {*bob.resources.values()}
    assert found(operator, f"owner={bob.owner}&owner={ada.owner}") == everything
    assert found(operator, "owner=") == set()
    assert names(ada, f"owner={ada.owner}") == ALL
    for path in PATHS:
        refused = ada.client.get(f"{path}?owner={bob.owner}")
        assert (refused.status_code, error_of(refused)["field"]) == (422, "owner")
    counted = {name: sum(b["runs"] for b in stats(users[name])["buckets"]) for name in ("ada", "bob", "operator")}
    assert counted == {"ada": 5, "bob": 2, "operator": 7}


def test_no_text_of_others_is_searched(users: UserApp) -> None:
    """The operator lists the runs of all owners, but cannot search their conversations."""
    assert names(users["bob"], "q=bob%27s+100%25") == {"talk"}
    assert found(users["operator"], "q=Bob") == set()


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("query", "field", "words"),
    [
        ("state=error", "state", "no query parameter 'state'. It takes"),
        ("status=done", "status", "not 'done'"),
        ("status=error&status=done", "status", "must be 'complete', 'cancelled'"),
        ("loop=v3", "loop", "must be 'v2' or 'legacy'"),
        ("code=NO_SUCH_CODE", "code", "no code 'NO_SUCH_CODE'. docs/sse-contract.md"),
        ("protocol=v1.1&protocol=v2", "protocol", "no protocol 'v2'. Use one of ag-ui, ai-sdk,"),
        (f"tool={'x' * 257}", "tool", "at most 256 characters"),
        ("since=2026-11-28&since=2026-11-27", "since", "since takes one value. Send it once."),
        ("until=1&until=2", "until", "one value"),
        ("q=a&q=b", "q", "one value"),
        ("since=-1", "since", "between the years 1970 and 3000"),
        ("since=1969-12-31", "since", "between the years 1970 and 3000"),
        ("until=9999-12-31T23:59:59Z", "until", "between the years 1970 and 3000"),
        ("until=inf", "until", "between the years 1970 and 3000"),
        ("since=yesterday", "since", "2026-11-28T06:00:00Z"),
        ("until=nan", "until", "epoch seconds"),
        ("since=1795845600000", "since", "not milliseconds"),
        (f"q={'x' * 201}", "q", ""),
        ("&".join(["tool=x"] * 51), "tool", "tool: at most 50 values are allowed."),
    ],
)
def test_wrong_filters_are_rejected(users: UserApp, path: str, query: str, field: str, words: str) -> None:
    """A 422 names the parameter and what it takes."""
    answer = users["ada"].client.get(f"{path}?{query}")
    assert (answer.status_code, error_of(answer)["field"]) == (422, field), answer.text
    assert words in error_of(answer)["message"]


def test_pages_of_a_filter_are_stable(start_app: StartApp) -> None:
    """Runs that start or are deleted between two pages move nothing."""
    app, _ = start_app(says("Yes."))
    wanted = []
    for _ in range(4):
        wanted.append(ask_app(app, "google/sim"))
        ask_app(app, "openai/sim")
    seen: list[str] = []
    following = ""
    while following is not None:
        page = app.client.get(f"/api/runs?model=google/sim&limit=1{following and f'&before={following}'}").json()
        seen += [run["run_id"] for run in page["runs"]]
        following = page["next"]
        ask_app(app, "google/sim")
        app.client.delete(f"/api/runs/{seen[-1]}")
    assert seen == wanted[::-1]


def ask_app(app: RunningApp, model: str) -> str:
    """Start a run of a model and return its id."""
    return app.post(prompt="Hello!", model=model, tools=[]).headers["x-run-id"]


# --- statistics -----------------------------------------------------------------------------------------------------


def stats(user: User, query: str = "") -> dict[str, Any]:
    """Return the statistics."""
    answer = user.client.get(f"/api/run-stats?{query}")
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_statistics_count_outcomes(users: UserApp) -> None:
    """Buckets of the last day have outcomes, percentiles and costs by loop."""
    found = stats(users["ada"], f"bucket={31 * 86_400}")
    assert (found["until"] - found["since"], found["bucket_seconds"]) == (86_400, 31 * 86_400)
    assert {bucket["loop"] for bucket in found["buckets"]} == {"v2"}
    counted: dict[str, int] = {}
    for bucket in found["buckets"]:
        assert bucket["start"] % found["bucket_seconds"] == 0
        assert bucket["duration_ms"]["p50"] <= bucket["duration_ms"]["p95"]
        assert bucket["first_token_ms"] is not None
        for status, count in bucket["statuses"].items():
            counted[status] = counted.get(status, 0) + count
    assert counted == {"complete": 4, "error": 1}
    listed = users["ada"].listed("runs")
    cost = sum(bucket["cost"] for bucket in found["buckets"])
    assert cost == pytest.approx(sum(run["cost"] or 0 for run in listed))
    assert sum(bucket["runs"] for bucket in stats(users["ada"], "tool=calculate")["buckets"]) == 1


def test_the_number_of_buckets_is_limited(users: UserApp) -> None:
    """A request for thousands of buckets is rejected, before anything is read."""
    refused = users["ada"].client.get("/api/run-stats?bucket=60")
    assert (refused.status_code, error_of(refused)["field"]) == (422, "bucket")
    assert "larger bucket" in error_of(refused)["message"]
    assert (
        users["ada"].client.get("/api/run-stats?bucket=60&since=2020-01-01&until=2020-01-01T08:00").status_code == 200
    )


# --- export ---------------------------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_an_export_reads_page_by_page() -> None:
    """A page is read once the client has taken the one before it; runs that end or start meanwhile move nothing."""
    runs = RunManager(MemoryStore())
    for place in range(7):
        await runs.store.open(a_run(f"run{place}", started=float(place)), lambda seq, reserved: None)
    reads: list[int] = []

    async def recent(limit: int, *given: Any) -> list[RunRecord]:
        reads.append(limit)
        return await RunManager.recent(runs, limit, *given)

    services = SimpleNamespace(runs=SimpleNamespace(recent=recent))
    pages = RunPages(services, Summaries(None), RunFilter(statuses=[None]))  # type: ignore[arg-type]
    seen = [run["run_id"] for run in await pages.next_page(3)]
    assert reads == [4]
    runs.store.save_figures("run3", lambda: Figures(status="complete", ended=9.0))
    await runs.store.open(a_run("later", started=9.0), lambda seq, reserved: None)
    while page := await pages.next_page(3):
        seen += [run["run_id"] for run in page]
    assert seen == ["run6", "run5", "run4", "run2", "run1", "run0"]
    assert len(reads) == 2


def test_an_export_of_many_pages_has_each_run_once(start_app: StartApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines of all pages are those of the list."""
    monkeypatch.setattr(run_reports, "_PAGE", 2)
    app, _ = start_app(says("Yes."))
    wanted = [ask_app(app, "openai/sim") for _ in range(5)]
    exported = app.client.get("/api/runs.ndjson")
    assert exported.headers["content-type"] == "application/x-ndjson"
    assert [json.loads(line)["run_id"] for line in exported.text.splitlines()] == wanted[::-1]


def test_an_export_without_database_is_an_error(start_app: StartApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first page is read before the head is sent."""
    app, _ = start_app(says("Yes."))

    async def fails(*given: Any) -> Any:
        raise StoreError(Code.STORE_UNAVAILABLE)

    monkeypatch.setattr(app.parts.runs.store, "recent", fails)
    answer = app.client.get("/api/runs.ndjson")
    assert (answer.status_code, error_of(answer)["code"]) == (503, "STORE_UNAVAILABLE")


def test_an_export_stops_when_its_client_leaves(start_app: StartApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """An endless list is not read on without its client."""
    app, _ = start_app(says("Yes."))
    ended, lines_of = Event(), run_reports._lines

    async def endless(limit: int, *given: Any) -> list[RunRecord]:
        return [a_run(f"run{place}") for place in range(limit)]

    async def lines(*given: Any) -> AsyncGenerator[bytes, None]:
        try:
            async for line in lines_of(*given):
                yield line
        finally:
            ended.set()

    monkeypatch.setattr(app.parts.runs.store, "recent", endless)
    monkeypatch.setattr(run_reports, "_lines", lines)
    with app.client.stream("GET", "/api/runs.ndjson") as answer:
        next(answer.iter_raw())
        assert not ended.is_set()
    assert ended.wait(WAIT)
