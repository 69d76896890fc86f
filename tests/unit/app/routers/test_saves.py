"""Saves over HTTP: snapshots that are equal to the run, replayed byte for byte, and erased when deleted."""

from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from signalbox.core.events import Stamped
from signalbox.runs.manager import RunManager
from signalbox.store.tables import RUNS

from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp, error_of, settings_for
from tests.support.scripted_upstream import chunk, says, sends, waits
from tests.support.stream_reader import check_stream
from tests.unit.app.routers.saving import forget_run, opened, run_with_a_tool, save, stream, written

ODD_IDS = ["none", "0" * 32, "%00", "%FF", "..%5C", "%F0%9F%92%BE", "'; drop table saves; --", "x" * 3000]


def flat(events: list[Stamped]) -> list[dict[str, Any]]:
    """Write events in the format of a save, with separate code."""
    return [{"seq": s.seq, "at": s.at, **msgspec.to_builtins(s.event)} for s in events]


def test_a_save_reopens_identical_without_its_run_and_after_a_restart(tmp_path: Path) -> None:
    """Trace, events and stream bytes equal the run's, also after the run is deleted and the server restarted."""
    settings = settings_for(tmp_path / "data")
    with RunningApp(settings) as app:
        run_id, heard = run_with_a_tool(app, system="Be brief.")
        trace = app.client.get(f"/api/runs/{run_id}").json()
        replay = stream(app, f"/api/runs/{run_id}")
        events = flat(app.within(app.parts.runs.events(run_id)))
        line = save(app, run_id, data={"tab": "tools", "big": [1, {"deep": None}]})
        before = opened(app, line["id"])
        forget_run(app, run_id)
    with RunningApp(settings) as app:
        after = opened(app, line["id"])
        again = stream(app, f"/api/saves/{line['id']}")
        listed = app.client.get("/api/saves").json()
    assert replay == heard.raw == again
    assert check_stream(again).text == heard.text
    assert after == before
    assert (after["trace"], after["events"]) == (trace, events)
    assert after["data"] == {"tab": "tools", "big": [1, {"deep": None}]}
    assert after["question"]["prompt"] == "What is 17 * 23?"
    assert after["question"]["system"] == "Be brief."
    assert list(after) == [
        *("id", "title", "created", "run_id", "model", "status"),
        *("question", "trace", "data", "earlier", "events"),
    ]
    assert listed == {"saves": [line], "next": None}


def test_a_save_with_an_image_reopens_identical(tmp_path: Path) -> None:
    """Events and stream contain the same image as the run's, also after a restart."""
    settings = settings_for(tmp_path / "data")
    with RunningApp(settings) as app:
        heard = app.ask("Draw a sunrise.", model="google/gemini-2.5-flash-image")
        run_id = heard.ids[0].partition(":")[0]
        [image] = [image["url"] for event in heard.of("content") for image in event.get("images", [])]
        events = flat(app.within(app.parts.runs.events(run_id)))
        line = save(app, run_id)
        forget_run(app, run_id)
    with RunningApp(settings) as app:
        after = opened(app, line["id"])
        assert after["events"] == events
        assert [one["url"] for event in after["events"] for one in event.get("images", [])] == [image]
        assert stream(app, f"/api/saves/{line['id']}") == heard.raw


def test_an_image_in_a_saves_own_data_is_refused_where_it_is_too_large(own: RunningApp) -> None:
    """The client's data has a separate limit; the error names the field."""
    heard = own.ask("Draw a sunrise.", model="google/gemini-2.5-flash-image")
    data = {"picture": "data:image/png;base64," + "A" * 64 * 1024}
    body = {"run_id": heard.ids[0].partition(":")[0], "data": data}
    response = own.client.post("/api/saves", json=body)
    assert (response.status_code, error_of(response)["field"]) == (422, "data")
    assert "at most 64 KB" in error_of(response)["message"]


def test_a_save_is_frozen(own: RunningApp) -> None:
    """Later changes of the run do not change a save, and two saves of one run are separate."""
    run_id, _ = run_with_a_tool(own)
    first = save(own, run_id, title="First")
    before = opened(own, first["id"])
    written(own)
    own.within(own.parts.database.write(lambda c: c.execute(RUNS.update().where(RUNS.c.id == run_id).values(steps=99))))
    second = save(own, run_id, title="Second")
    assert own.client.get(f"/api/runs/{run_id}").json()["steps"] == 99
    assert opened(own, first["id"]) == before
    assert opened(own, second["id"])["trace"]["steps"] == 99
    assert first["id"] != second["id"]


def test_the_stream_of_a_save_resumes_as_that_of_its_run(own: RunningApp) -> None:
    """After every cursor the bytes equal the run's; 204 at the end; the header takes precedence over `after`."""
    run_id, heard = run_with_a_tool(own)
    address, run = f"/api/saves/{save(own, run_id)['id']}", f"/api/runs/{run_id}"
    last = heard.seqs[-1]
    for after in (0, 1, last // 2, last - 1):
        assert stream(own, address, params={"after": after}) == stream(own, run, params={"after": after})
    named = {"last-event-id": f"{run_id}:{last - 1}"}
    assert stream(own, address, params={"after": 1}, headers=named) == stream(own, run, headers=named)
    named = {"last-event-id": heard.ids[-1]}
    seen: list[dict[str, Any]] = [{"params": {"after": last}}, {"params": {"after": 10**15}}, {"headers": named}]
    for asked in seen:
        assert_same_head(own.client.get(f"{address}/events", **asked), own.client.get(f"{run}/events", **asked), 204)
    assert_same_head(own.client.get(f"{address}/events"), own.client.get(f"{run}/events"), 200)


def assert_same_head(ours: httpx.Response, theirs: httpx.Response, status: int) -> None:
    """Status and headers are the same, except for the date and the request id."""
    assert ours.status_code == theirs.status_code == status
    heads = [{k: v for k, v in one.headers.items() if k not in ("date", "x-request-id")} for one in (ours, theirs)]
    assert heads[0] == heads[1]


@pytest.mark.parametrize("named", ["0" * 32 + ":3", "nonsense", "a:b", ":1"])
def test_an_event_id_of_another_run_is_refused(app: RunningApp, named: str) -> None:
    """A cursor of another run is a 422 that names the header, as for runs."""
    heard = app.ask("Hello!")
    line = save(app, heard.ids[0].partition(":")[0])
    response = app.client.get(f"/api/saves/{line['id']}/events", headers={"last-event-id": named})
    assert (response.status_code, error_of(response)["field"]) == (422, "Last-Event-ID")


def test_a_run_that_is_not_there_or_not_over_is_not_kept(start_app: StartApp) -> None:
    """An unknown id is a 404 and an active run a 409; a finished run can be saved."""
    app, upstream = start_app(waits)
    for odd in ("none", "", "\x00", "💾", "x" * 3000):
        response = app.client.post("/api/saves", json={"run_id": odd})
        assert (response.status_code, error_of(response)["code"]) == (404, "UNKNOWN_RUN")
    with app.asking() as response:
        run_id = response.headers["x-run-id"]
        refused = app.client.post("/api/saves", json={"run_id": run_id})
        assert (refused.status_code, error_of(refused)["code"]) == (409, "RUN_NOT_OVER")
        upstream.opened.set()
        raw = response.read()
    line = save(app, run_id)
    assert stream(app, f"/api/saves/{line['id']}") == raw


def test_a_cut_run_is_kept_as_it_ended(start_app: StartApp) -> None:
    """A failed or stopped run is saved with its warning, status and code."""
    app, _ = start_app(sends(chunk({"content": "Half "}), b'data: {"error": {"code": 403, "message": "No."}}\n\n'))
    heard = app.ask()
    line = save(app, heard.ids[0].partition(":")[0])
    assert (line["status"], heard.done["status"]) == ("error", "error")
    assert opened(app, line["id"])["trace"]["code"] == heard.done["code"]
    assert stream(app, f"/api/saves/{line['id']}") == heard.raw


@pytest.mark.parametrize("method", ["GET", "DELETE"])
@pytest.mark.parametrize("odd", ODD_IDS)
def test_an_unknown_id_is_a_404(app: RunningApp, method: str, odd: str) -> None:
    """Every endpoint answers UNKNOWN_SAVE for an unknown id, however odd."""
    for address in (f"/api/saves/{odd}", f"/api/saves/{odd}/events")[: 2 if method == "GET" else 1]:
        response = app.client.request(method, address)
        assert (response.status_code, error_of(response)["code"]) == (404, "UNKNOWN_SAVE")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "run_id"),
        ({"run_id": 7}, "run_id"),
        ({"title": ""}, "title"),
        ({"title": " \n "}, "title"),
        ({"title": "x" * 201}, "title"),
        ({"title": None, "data": []}, "data"),
        ({"data": {"x": "y" * 65_529}}, "data"),
        ({"data": {"x": "ß" * 32_765}}, "data"),
        ({"more": 1}, "more"),
    ],
)
def test_a_body_that_does_not_fit_is_refused(app: RunningApp, body: dict[str, Any], field: str) -> None:
    """Each fault is a 422 that names its field, and nothing is saved."""
    run_id = app.ask("Hello!").ids[0].partition(":")[0]
    before = app.client.get("/api/saves").json()
    response = app.client.post("/api/saves", json=body if field == "run_id" else {"run_id": run_id, **body})
    assert (response.status_code, error_of(response)["field"]) == (422, field)
    assert app.client.get("/api/saves").json() == before


def test_what_just_fits_is_kept(app: RunningApp) -> None:
    """Titles of 1 and 200 characters and 64 KB of any data are returned unchanged."""
    run_id = app.ask("Hello!").ids[0].partition(":")[0]
    full = {"x": "y" * (65_536 - 8)}
    assert opened(app, save(app, run_id, title="x" * 200, data=full)["id"])["data"] == full
    odd = {"": 1.5, "💾": ["\u0000", -(2**63), 2**64 - 1, True, None], "deep": {"er": {}}}
    line = save(app, run_id, title=" ß ", data=odd)
    assert (line["title"], opened(app, line["id"])["data"]) == ("ß", odd)


LONG = "Tell me everything about the tool loop of Signalbox please and then go on"


@pytest.mark.parametrize(
    ("asked", "title"),
    [
        ({"prompt": "  What is\n\tthe  loop?  "}, "What is the loop?"),
        ({"prompt": LONG}, "Tell me everything about the tool loop of Signalbox please"),
        ({"prompt": "x" * 60 + " y"}, "x" * 60),
        ({"prompt": "x" * 61}, "x" * 60),
        ({"messages": [{"role": "user", "content": "One"}, {"role": "user", "content": "Two"}]}, "Two"),
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": "In parts"}]}]}, "In parts"),
    ],
)
def test_a_save_is_named_for_its_question(app: RunningApp, asked: dict[str, Any], title: str) -> None:
    """The default title is the question's first whole words, at most 60 characters."""
    assert save(app, app.ask(**asked).ids[0].partition(":")[0])["title"] == title


def test_saves_are_listed_page_by_page(own: RunningApp) -> None:
    """The newest is first; `next` visits each save once, also while others are created or deleted."""
    run_id = own.ask("Hello!").ids[0].partition(":")[0]
    made = [save(own, run_id, title=f"Number {number}") for number in range(5)]
    first = own.client.get("/api/saves", params={"limit": 2}).json()
    assert first["saves"] == [made[4], made[3]]
    assert own.client.delete(f"/api/saves/{made[3]['id']}").status_code == 200
    save(own, run_id, title="Newer")
    second = own.client.get("/api/saves", params={"limit": 2, "before": first["next"]}).json()
    assert second["saves"] == [made[2], made[1]]
    third = own.client.get("/api/saves", params={"limit": 2, "before": second["next"]}).json()
    assert third == {"saves": [made[0]], "next": None}


@pytest.mark.parametrize("asked", [{"limit": 0}, {"limit": 201}, {"before": "x"}, {"before": "nan_" + "0" * 32}])
def test_a_page_that_cannot_be_is_refused(app: RunningApp, asked: dict[str, Any]) -> None:
    """An invalid limit or cursor is a 422 that names it."""
    response = app.client.get("/api/saves", params=asked)
    assert (response.status_code, error_of(response)["field"]) == (422, next(iter(asked)))


def test_an_answer_of_a_conversation_is_saved_with_its_question(own: RunningApp) -> None:
    """The question's text comes from the tree, also for a repeated answer, and the save outlives the conversation."""
    first = own.ask("What is 17 * 23?", conversation_id="c-saves").ids[0].partition(":")[0]
    parent = own.client.get("/api/conversations/c-saves").json()["messages"][0]["id"]
    again = own.post(conversation_id="c-saves", parent_id=parent)
    made = [save(own, run_id) for run_id in (first, again.headers["x-run-id"])]
    deleted = own.client.delete("/api/conversations/c-saves").json()
    assert deleted == {"deleted": True, "saves_kept": 2}
    assert error_of(own.client.get(f"/api/runs/{first}"))["code"] == "UNKNOWN_RUN"
    assert [line["title"] for line in made] == ["What is 17 * 23?"] * 2
    assert [opened(own, line["id"])["question"]["prompt"] for line in made] == ["What is 17 * 23?"] * 2
    assert stream(own, f"/api/saves/{made[1]['id']}") == again.content


def test_a_run_that_is_deleted_while_it_is_saved_is_unknown(
    start_app: StartApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that is deleted while it is saved is not saved."""
    app, _ = start_app(says("Hello."))
    run_id = app.post(prompt="Hello!", tools=[]).headers["x-run-id"]
    events = RunManager.events

    async def deleted_meanwhile(self: RunManager, asked: str) -> list[Stamped]:
        await self.store.delete(asked)
        return await events(self, asked)

    monkeypatch.setattr(RunManager, "events", deleted_meanwhile)
    refused = app.client.post("/api/saves", json={"run_id": run_id})
    assert (refused.status_code, error_of(refused)["code"]) == (404, "UNKNOWN_RUN")
    assert app.client.get("/api/saves").json()["saves"] == []
