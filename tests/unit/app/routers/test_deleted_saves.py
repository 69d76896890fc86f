"""Deleted and erased data of saves over HTTP."""

from pathlib import Path

from signalbox.store.tables import SAVES
from sqlalchemy import select

from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp, error_of
from tests.support.scripted_upstream import chunk, says, sends
from tests.unit.app.routers.saving import forget_run, opened, run_with_a_tool, save, stream


def test_what_is_deleted_is_in_no_file(start_app: StartApp, tmp_path: Path) -> None:
    """After DELETE the open database files contain no byte of question, answer or data."""
    marks = {what: f"{what}-7f3a91c2" for what in ("question", "answer", "data", "title")}
    filler = {"more": "y" * 60_000, "mark": marks["data"]}  # more than a page holds
    app, _ = start_app(says(marks["answer"]))
    run_id = app.ask(marks["question"]).ids[0].partition(":")[0]
    line = save(app, run_id, title=marks["title"], data=filler)
    forget_run(app, run_id)
    kept = files(tmp_path)
    assert [what for what, mark in marks.items() if mark.encode() in kept] == list(marks)
    assert app.client.delete(f"/api/saves/{line['id']}").json() == {"deleted": True}
    left = files(tmp_path)
    assert [what for what, mark in marks.items() if mark.encode() in left] == []
    assert line["id"].encode() not in left
    for method in ("GET", "DELETE"):
        assert error_of(app.client.request(method, f"/api/saves/{line['id']}"))["code"] == "UNKNOWN_SAVE"


def files(folder: Path) -> bytes:
    """Read all database files."""
    return b"".join(path.read_bytes() for path in sorted((folder / "data").glob("signalbox.db*")))


def test_deleting_one_save_leaves_the_others(own: RunningApp) -> None:
    """The run and its other save do not change."""
    run_id, heard = run_with_a_tool(own)
    one, other = save(own, run_id), save(own, run_id)
    assert own.client.delete(f"/api/saves/{one['id']}").status_code == 200
    assert own.client.get("/api/saves").json()["saves"] == [other]
    assert stream(own, f"/api/saves/{other['id']}") == heard.raw == stream(own, f"/api/runs/{run_id}")


def test_opaque_reasoning_is_in_no_save(start_app: StartApp) -> None:
    """A save contains no opaque reasoning, neither of the model nor of the client."""
    sealed = {"type": "reasoning.encrypted", "data": "SEALED-BY-MODEL", "format": "anthropic-claude-v1", "index": 0}
    app, _ = start_app(sends(chunk({"reasoning_details": [sealed]}), chunk({"content": "Yes."}, finish="stop")))
    brought = {"role": "assistant", "content": "So.", "reasoning_details": [{"data": "SEALED-BY-CLIENT"}]}
    asked = [{"role": "user", "content": "And?"}, brought, {"role": "user", "content": "Really?"}]
    run_id = app.ask(messages=asked).ids[0].partition(":")[0]
    line = save(app, run_id)
    assert "SEALED" not in app.client.get(f"/api/saves/{line['id']}").text
    assert b"SEALED" not in stream(app, f"/api/saves/{line['id']}")
    rows = app.within(app.parts.database.read(lambda c: c.execute(select(SAVES)).all()))
    assert "SEALED" not in repr(rows)
    messages = opened(app, line["id"])["question"]["messages"]
    assert [message["content"] for message in messages] == ["And?", "So.", "Really?"]
