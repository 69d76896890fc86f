"""The tools of the app: which are available, and each of them in a whole run."""

import json
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from signalbox.app.config import SettingsError
from signalbox.chat.plan import limits_of
from signalbox.core.ask import AskedLimits
from signalbox.tools import plugins

from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp, settings_for
from tests.support.scripted_upstream import ScriptedUpstream, call_chunk, calls_then, says, sends

OF_IMAGES = ["generate_images", "edit_image", "remove_background", "screenshot_preview"]
SECRET = "BSA-canary-s3cret"


def listed(app: RunningApp) -> dict[str, dict[str, Any]]:
    """Return the tools of GET /api/tools by name."""
    return {tool["name"]: tool for tool in app.client.get("/api/tools").json()["tools"]}


def test_every_tool_is_listed_with_its_metadata(app: RunningApp) -> None:
    """The built-in tools are available without a key or a network, except those for products and images."""
    tools = listed(app)
    assert [(name, tool["category"], tool["visibility"], tool["eager"]) for name, tool in tools.items()] == [
        ("search_web", "search", "primary", True),
        ("search_products", "search", "primary", True),
        ("read_url", "other", "secondary", True),
        ("save_note", "other", "secondary", False),
        ("get_current_time", "utility", "hidden", True),
        ("calculate", "utility", "hidden", True),
        ("create_file", "other", "secondary", False),
        ("edit_file", "other", "secondary", False),
        ("read_file", "other", "secondary", False),
        ("list_files", "other", "secondary", False),
        ("retrieve_option", "other", "secondary", False),
        ("generate_images", "other", "secondary", False),
        ("edit_image", "other", "secondary", False),
        ("remove_background", "other", "secondary", False),
        ("screenshot_preview", "other", "secondary", False),
    ]
    assert [name for name, tool in tools.items() if not tool["available"]] == ["search_products", *OF_IMAGES]
    on_request = [name for name, tool in tools.items() if tool["on_request"]]
    assert on_request == ["create_file", "edit_file", "read_file", "list_files", "retrieve_option", *OF_IMAGES]
    assert on_request == [name for name, tool in tools.items() if tool["needs_conversation"]]


@pytest.mark.parametrize(("settings", "searches"), [({}, 6), ({"brave_api_key": SECRET}, 10)])
def test_the_list_has_the_default_limits(start_app: StartApp, settings: dict[str, str], searches: int) -> None:
    """The limits are those of a run whose request sets none."""
    app, _ = start_app(says("Hello."), settings=settings)
    limits = app.client.get("/api/tools").json()["limits"]
    assert limits == {"max_steps": 8, "max_searches": searches}
    applied = limits_of(AskedLimits(), search_is_paid=app.parts.search_is_paid)
    assert (applied.max_steps, applied.max_searches) == (limits["max_steps"], limits["max_searches"])


def test_every_tool_has_a_title_and_a_summary(app: RunningApp) -> None:
    """The page shows these; name and description are for models."""
    tools = listed(app)
    assert {name: tool["title"] for name, tool in tools.items()} == {
        "search_web": "Web search",
        "search_products": "Product search",
        "read_url": "Read a page",
        "save_note": "Save a note",
        "get_current_time": "Clock",
        "calculate": "Calculator",
        "create_file": "Create a file",
        "edit_file": "Edit a file",
        "read_file": "Read a file",
        "list_files": "List files",
        "retrieve_option": "Read another option",
        "generate_images": "Generate images",
        "edit_image": "Edit an image",
        "remove_background": "Remove a background",
        "screenshot_preview": "Screenshot",
    }
    for tool in tools.values():
        assert tool["summary"] != tool["description"]
        assert tool["summary"].count(".") == 1


def test_a_note_is_saved_found_read_and_served(start_app: StartApp, tmp_path: Path) -> None:
    """One run saves a note, the next run finds it, read_url reads its URL, and the app serves it."""
    note = json.dumps({"title": "Zebrafish fins", "text": "They grow back within weeks."})
    app, upstream = start_app(
        calls_then(call_chunk("save_note", note)),
        says("Saved."),
        calls_then(call_chunk("search_web", '{"query": "zebrafish fins"}')),
        calls_then(call_chunk("read_url", '{"url": "/notes/zebrafish-fins.md#zebrafish-fins"}', call_id="call_2")),
        says("They grow back [1]."),
    )
    saving, finding = app.ask("Keep this."), app.ask("What do zebrafish do?")
    saved = saving.of("tool_result")[0]
    assert (saved["category"], saved["visibility"]) == ("other", "secondary")
    assert saved["result"]["result"] == {
        "saved": True,
        "title": "Zebrafish fins",
        "file": "zebrafish-fins.md",
        "url": "/notes/zebrafish-fins.md",
    }
    found, read = (event["result"]["result"] for event in finding.of("tool_result"))
    assert found["results"][0]["url"] == "/notes/zebrafish-fins.md#zebrafish-fins"
    assert (read["n"], read["title"]) == (found["results"][0]["n"], "Zebrafish fins")
    assert "They grow back within weeks." in read["text"]
    assert (tmp_path / "data" / "notes" / "zebrafish-fins.md").is_file()
    served = app.client.get("/notes/zebrafish-fins.md")
    assert served.headers["content-type"] == "text/markdown; charset=utf-8"
    assert "They grow back" in served.text
    description = next(t for t in upstream.asked[0].body["tools"] if t["function"]["name"] == "save_note")["function"]
    assert "search_web finds it later" in description["description"]


def test_save_note_waits_for_the_end_of_its_step(start_app: StartApp, tmp_path: Path) -> None:
    """A step that is cut before its end saves no note, because the tool is not eager."""
    note = json.dumps({"title": "Cut", "text": "Never saved."})
    app, _ = start_app(sends(call_chunk("save_note", note)), sends(call_chunk("save_note", note)), says("Sorry."))
    heard = app.ask("Keep this.")
    assert "STEP_FAILED" in heard.result_codes() or heard.calls == []
    assert list((tmp_path / "data" / "notes").iterdir()) == []


def test_notes_require_a_token(tmp_path: Path) -> None:
    """Notes require a token if one is set; this project's documentation does not."""
    settings = settings_for(tmp_path / "data", signalbox_access_token="letmein")
    with RunningApp(settings) as app:
        (tmp_path / "data" / "notes" / "mine.md").write_text("# Mine\n")
        assert app.client.get("/notes/mine.md").status_code == 401
        assert app.client.get("/notes/mine.md", headers={"authorization": "Bearer letmein"}).text == "# Mine\n"
        assert app.client.get("/guide/README.md").status_code == 200


def test_notes_have_the_configured_folder(tmp_path: Path) -> None:
    """The folder is created at the start; if that fails, save_note is unavailable with the reason."""
    with RunningApp(settings_for(tmp_path / "data", signalbox_notes_dir=tmp_path / "my" / "notes")) as app:
        assert (tmp_path / "my" / "notes").is_dir()
        assert listed(app)["save_note"]["available"] is True
    (tmp_path / "file").write_text("")
    with RunningApp(settings_for(tmp_path / "data", signalbox_notes_dir=tmp_path / "file" / "notes")) as app:
        assert "SIGNALBOX_NOTES_DIR" in listed(app)["save_note"]["unavailable"]
        assert app.client.get("/notes/x.md").status_code == 404


@pytest.fixture
def page() -> Iterator[ScriptedUpstream]:
    """Serve one web page."""
    with ScriptedUpstream(says("")) as running:
        running._models = lambda exchange: exchange.whole(200, b"<title>T</title><p>Hello, reader.</p>", "text/html")
        yield running


def test_read_url_reads_only_allowed_private_hosts(start_app: StartApp, page: ScriptedUpstream) -> None:
    """Loopback is rejected until the operator allows it."""
    arguments = json.dumps({"url": f"http://127.0.0.1:{page.port}/"})
    scripts = (calls_then(call_chunk("read_url", arguments)), says("Read."))
    app, _ = start_app(*scripts, settings={"signalbox_fetch_allow": "127.0.0.0/8"})
    read = app.ask().of("tool_result")[0]["result"]["result"]
    assert (read["n"], read["title"], read["text"]) == (1, "T", "Hello, reader.")
    closed, _ = start_app(*scripts)
    result = closed.ask().of("tool_result")[0]["result"]
    assert (result["success"], result["code"]) == (False, "INVALID_ARGUMENTS")
    assert len(page.catalogues) == 1


def test_a_paid_search_has_another_limit_and_its_key_is_secret(start_app: StartApp, page: ScriptedUpstream) -> None:
    """With a key, Brave is used; its errors contain no key, neither in the stream nor in the trace."""
    page._models = lambda exchange: exchange.whole(401, SECRET.encode())
    settings = {"brave_api_key": SECRET, "brave_base_url": f"http://127.0.0.1:{page.port}/res/v1"}
    script = calls_then(call_chunk("search_web", '{"query": "pandas"}'))
    app, _ = start_app(script, says("No search today."), settings=settings)
    assert app.parts.search_is_paid
    assert "Brave" in listed(app)["search_web"]["description"]
    heard = app.ask()
    assert heard.of("tool_result")[0]["result"] == {
        "success": False,
        "error": "Brave Search rejected the API key set on this server.",
        "code": "TOOL_FAILED",
    }
    assert page.catalogues[0].headers["x-subscription-token"] == SECRET
    told = [
        heard.raw.decode(),
        app.client.get("/api/tools").text,
        app.client.get(f"/api/runs/{heard.events[0]['run_id']}").text,
    ]
    assert not any(SECRET in text for text in told)
    assert SECRET not in repr(app.parts.settings)


def test_a_broken_plugin_tool_is_listed_as_unavailable(start_app: StartApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """GET /api/tools has the reason; only questions that name the tool are rejected."""
    entry = EntryPoint("dice", "signalbox.no_such_module:tools", "signalbox.tools")
    monkeypatch.setattr(plugins, "entry_points_of", lambda group: [entry])
    app, upstream = start_app(says("Hello."))
    assert "there is no module signalbox.no_such_module" in listed(app)["dice"]["unavailable"]
    response = app.post(prompt="Roll.", tools=["dice"])
    assert (response.status_code, response.json()["error"]["code"]) == (422, "TOOL_UNAVAILABLE")
    assert app.ask().done["status"] == "complete"
    assert "dice" not in [tool["function"]["name"] for tool in upstream.asked[0].body["tools"]]


@pytest.mark.parametrize("value", ["http://wiki.intern", "10.0.0.0/99", "wiki.intern:80"])
def test_an_invalid_allowance_stops_the_start(tmp_path: Path, value: str) -> None:
    """A typo must neither open nor close access silently."""
    with pytest.raises(SettingsError, match="neither a host name nor a network"):
        settings_for(tmp_path, signalbox_fetch_allow=value)
