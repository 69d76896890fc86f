"""Filtered lists, exports and statistics of runs, and their cost, through the Python client on the real app."""

import asyncio
import csv
import io
from collections.abc import Iterator
from contextlib import ExitStack, aclosing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from signalbox_client import AsyncSignalbox, ConnectionLost, InvalidRequest, NotSignalbox, Signalbox

from tests.scenarios.access.users import ADMIN, serve_users
from tests.scenarios.python_client.conftest import FAST, open_client, rejecting
from tests.scenarios.resume.breaking_proxy import BreakingProxy, Bytes
from tests.support.fixtures import StartApp
from tests.support.running_app import WAIT, RunningApp
from tests.support.scripted_upstream import says

MODEL = "openai/sim"
NDJSON = {"content-type": "application/x-ndjson"}


@pytest.fixture(scope="module")
def runs(app: RunningApp) -> dict[str, str]:
    """Make three runs; return their ids by name."""
    with ExitStack() as stack:
        client = open_client(stack, app.url)
        made = {
            "product": client.ask("What is 17 * 23?", model=MODEL, tools=["calculate"]),
            "talk": client.ask("Hello, penguin!", model=MODEL, conversation_id="talk", tools=[]),
            "other": client.ask("Hello!", model="anthropic/sim", tools=[]),
        }
    app.within(app.parts.runs.store.flush())
    return {name: answer.run_id for name, answer in made.items()}


@pytest.fixture
def client(app: RunningApp, stack: ExitStack) -> Signalbox:
    """Return a client of the app."""
    return open_client(stack, app.url)


HOUR = timedelta(hours=1)
LOCAL = datetime.now()  # noqa: DTZ005 - without a time zone
FILTERS: list[tuple[dict[str, Any], set[str]]] = [
    ({}, {"product", "talk", "other"}),
    ({"status": "complete"}, {"product", "talk", "other"}),
    ({"status": ["error", "cancelled"]}, set()),
    ({"code": "UPSTREAM_TIMEOUT"}, set()),
    ({"model": "anthropic/sim"}, {"other"}),
    ({"model": ("anthropic/sim", MODEL)}, {"product", "talk", "other"}),
    ({"loop": "legacy"}, set()),
    ({"loop": ["legacy", "v2"], "protocol": "v1.1", "tool": "calculate"}, {"product"}),
    ({"owner": ""}, {"product", "talk", "other"}),
    ({"q": "PENGUIN"}, {"talk"}),
    ({"since": datetime.now(UTC) - HOUR, "until": LOCAL + HOUR}, {"product", "talk", "other"}),
    ({"since": LOCAL + HOUR}, set()),
    ({"until": "2026-01-01"}, set()),
    ({"since": 1_700_000_000.5, "until": "2999-01-01T00:00:00Z"}, {"product", "talk", "other"}),
]


@pytest.mark.parametrize(("filters", "names"), FILTERS, ids=[" ".join(filters) or "all" for filters, _ in FILTERS])
def test_lists_exports_and_statistics_are_filtered(
    runs: dict[str, str], client: Signalbox, filters: dict[str, Any], names: set[str]
) -> None:
    """All three have the same runs."""
    wanted = [run_id for name, run_id in reversed(runs.items()) if name in names]
    assert [run["run_id"] for run in client.runs.list(**filters)] == wanted
    assert list(client.runs.export(**filters)) == list(client.runs.list(**filters))
    if not {"since", "until"} & filters.keys():
        assert sum(bucket["runs"] for bucket in client.runs.stats(**filters)["buckets"]) == len(wanted)


def test_statistics_count_by_time(runs: dict[str, str], client: Signalbox) -> None:
    """The length of a bucket is chosen."""
    found = client.runs.stats(86_400, since=datetime.now(UTC) - timedelta(days=2))
    assert (found["bucket_seconds"], found["all_owners"]) == (86_400, False)
    assert {bucket["loop"] for bucket in found["buckets"]} == {"v2"}
    assert sum(bucket["statuses"]["complete"] for bucket in found["buckets"]) == len(runs)
    with pytest.raises(InvalidRequest) as wrong:
        client.runs.stats(1)
    assert wrong.value.field == "bucket"


def test_pages_are_read_until_the_end(start_app: StartApp, stack: ExitStack) -> None:
    """A list of more runs than a page has each of them once."""
    app, _ = start_app(*(says("Hi!") for _ in range(51)))
    client = open_client(stack, app.url)
    made = [client.ask("Hello!", model=MODEL, tools=[]).run_id for _ in range(51)]
    assert [run["run_id"] for run in client.runs.list("complete", model=MODEL)] == made[::-1]


def test_a_broken_export_is_an_error(runs: dict[str, str], app: RunningApp, stack: ExitStack) -> None:
    """It is neither a complete export, nor begun again after its first line."""

    class Broken(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            yield b'{"run_id": "a"}\n{"run_id"'
            raise httpx.ReadError("reset")

    cut = httpx.Response(200, headers=NDJSON, content=b'{"run_id": "a"}\n{"run_id"')
    for response in (httpx.Response(200, headers=NDJSON, stream=Broken()), cut):
        lines = rejecting(app, stack, response).runs.export()
        assert next(lines)["run_id"] == "a"
        with pytest.raises(ConnectionLost):
            next(lines)
    for body in (httpx.Response(200, headers=NDJSON, content=b"no JSON\n"), httpx.Response(200, html="<p>Hi")):
        with pytest.raises(NotSignalbox):
            list(rejecting(app, stack, body).runs.export())


def test_an_export_is_retried_before_its_first_line(
    runs: dict[str, str], app: RunningApp, stack: ExitStack, slept: list[float]
) -> None:
    """A temporary rejection is waited for; a permanent one is a typed error."""
    busy = httpx.Response(503, headers={"retry-after": "1"})
    assert next(rejecting(app, stack, busy).runs.export())["run_id"]
    assert len(slept) == 1
    with pytest.raises(InvalidRequest):
        next(rejecting(app, stack).runs.export(since="yesterday"))


def test_only_a_line_feed_ends_a_line(app: RunningApp, stack: ExitStack) -> None:
    """Names may contain other characters that end lines in Unicode."""
    body = '{"owner": "a\u2028b\x85c"}\n{"owner": null}\n'.encode()
    lines = rejecting(app, stack, httpx.Response(200, headers=NDJSON, content=body)).runs.export()
    assert [run.get("owner") for run in lines] == ["a\u2028b\x85c", None]


def test_spend_is_the_cost_of_the_runs(runs: dict[str, str], client: Signalbox) -> None:
    """By day without an argument; as CSV with the same rows."""
    today = datetime.now(UTC).date()
    cost = pytest.approx(sum(run["cost"] or 0 for run in client.runs.list()), abs=1e-8)
    found = client.spend()
    assert (found["group_by"], found["last_day"], found["total"]["cost"]) == ("day", f"{today}", cost)
    by_model = client.spend("model", from_=today, to=f"{today}")
    assert (by_model["first_day"], by_model["last_day"]) == (f"{today}", f"{today}")
    rows = {row["key"]: row["runs"] for row in by_model["rows"]}
    assert (rows[MODEL], rows["anthropic/sim"]) == (2, 1)
    printed = list(csv.DictReader(io.StringIO(client.spend_csv("model"))))
    assert {row["model"]: int(row["runs"]) for row in printed} == rows
    assert client.spend(from_=date(2020, 1, 1), to=date(2020, 12, 31))["rows"] == []


def test_the_operator_sees_the_runs_and_costs_of_all(tmp_path: Path, stack: ExitStack) -> None:
    """Runs have their owners, which can be selected; a user has only their own runs."""
    with serve_users(tmp_path) as users:
        for name in ("ada", "bob"):
            users[name].ask()
        users.app.within(users.app.parts.runs.store.flush())
        operator = open_client(stack, users.app.url, ADMIN)
        assert [run.get("owner") for run in operator.runs.export(owner=users["ada"].owner)] == [
            {"id": users["ada"].owner, "name": "ada"}
        ]
        assert {row["name"] for row in operator.spend("owner")["rows"]} == {"ada", "bob"}
        assert operator.runs.stats()["all_owners"]
        token = users["bob"].client.headers["authorization"].removeprefix("Bearer ")
        bob = open_client(stack, users.app.url, token)
        assert len(list(bob.runs.list())) == 1
        assert [row["name"] for row in bob.spend("owner")["rows"]] == ["bob"]


def test_an_export_over_a_broken_connection(runs: dict[str, str], app: RunningApp, stack: ExitStack) -> None:
    """The connection breaks within the body, so the end of the response is missing."""
    with BreakingProxy(app.port, [Bytes(700)]) as wire, pytest.raises(ConnectionLost):
        list(open_client(stack, wire.url).runs.export())
    assert wire.cuts == 1


def test_a_page_is_no_csv(app: RunningApp, stack: ExitStack) -> None:
    """It came from a proxy."""
    with pytest.raises(NotSignalbox):
        rejecting(app, stack, httpx.Response(200, html="<p>Hi")).spend_csv()


def test_the_asynchronous_client_does_the_same(runs: dict[str, str], app: RunningApp) -> None:
    """Filters, exports, statistics, costs and files with asyncio."""

    async def use() -> None:
        async with httpx.AsyncClient(timeout=WAIT, trust_env=False, verify=False) as http:
            client = AsyncSignalbox(app.url, backoff=FAST, http=http)
            assert [run["run_id"] async for run in client.runs.list(tool="calculate")] == [runs["product"]]
            async with aclosing(client.runs.export(model=[MODEL, "anthropic/sim"])) as lines:
                assert (await anext(lines))["run_id"] == runs["other"]
            assert (await client.runs.stats(tool="calculate"))["buckets"][0]["runs"] == 1
            assert (await client.spend("owner"))["rows"][0]["key"] == ""
            assert (await client.spend_csv()).startswith("day,name,runs")
            files = client.conversations.files("talk")
            await files.write("a.txt", "one")
            await files.write("a.txt", "two", base_version=1)
            assert (await files.get("a.txt", 1)).text == "one"
            assert (await files.delete("a.txt"))["version"] == 3
            assert (await files.restore("a.txt", 2))["version"] == 4
            assert [one["version"] for one in await files.versions("a.txt")] == [4, 3, 2, 1]
            assert [one["path"] for one in await files.list()] == ["a.txt"]
            assert (await files.archive()).startswith(b"PK")

    asyncio.run(use())
