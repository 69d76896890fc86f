"""A search that the shop holds back, in every page protocol: nothing else waits for it (ME-06, ME-04)."""

from pathlib import Path

import httpx
import pytest
from signalbox.app.asgi import streaming

from tests.scenarios.shopping_assistant.pages import AI_SDK, DATA_STREAM, PAGES, TRANSPORT, PageProtocol, held_shop
from tests.support.ag_ui_client import AgUiReader
from tests.support.assistant_client import state_after
from tests.support.fixtures import StartApp
from tests.support.running_app import WAIT, RunningApp, read_until
from tests.support.scripted_upstream import call_chunk, calls_then, chunk, says
from tests.support.ui_message import UiMessageReader

EACH_PAGE = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
SEARCH = calls_then(chunk({"content": "Let me look."}), call_chunk("search_products", '{"query": "mug"}'))
# Each protocol's own word for an empty line or comment that keeps the connection open.
PINGS = {DATA_STREAM.name: b"\n\n"}


def table_in(page: PageProtocol, stream: bytes) -> list[dict[str, object]]:
    """Return the rows of the table that the page's client shows at the end of a stream."""
    if page in (DATA_STREAM, TRANSPORT):
        messages = state_after(lines_of(page, stream))["messages"]
        [result] = [one for one in messages if one["type"] == "tool"]
        return result["artifact"]["data"]
    if page is AI_SDK:
        [part] = [one for one in UiMessageReader().read_stream(stream).parts if "toolCallId" in one]
        return part["output"]["data"]
    [call] = AgUiReader([]).read_stream(stream).calls.values()
    return httpx.Response(200, content=call["result"]).json()["data"]


def lines_of(page: PageProtocol, stream: bytes) -> list[str]:
    """Return the lines of a data stream, without pings; those of assistant transport in the form of a data stream."""
    if page is DATA_STREAM:
        return [line for line in stream.decode().split("\n") if line]
    frames = [frame.removeprefix("data: ") for frame in stream.decode().split("\n\n") if frame.startswith("data: {")]
    before = '{"type":"update-state","operations":'
    return [f"aui-state:{frame.removeprefix(before)[:-1]}" for frame in frames if frame.startswith(before)]


def reach_other_users(app: RunningApp) -> None:
    """Answer requests of others while a search is held."""
    assert app.client.get("/api/tools").status_code == 200
    assert app.ask("Hello?").text == "Hello."


@EACH_PAGE
def test_text_and_the_running_call_arrive_before_the_result(
    start_app: StartApp, tmp_path: Path, page: PageProtocol
) -> None:
    """While the shop has not answered, the client has the text and the call, and other users are answered."""
    with held_shop(tmp_path) as shop:
        app, upstream = start_app(SEARCH, says("Hello."), says("Found."), settings=shop.settings)
        with app.client.stream("POST", page.path, json=page.ask("A mug, please.", "shop")) as response:
            chunks = response.iter_raw()
            shop.accept()
            seen = read_until(chunks, b"search_products")
            seen += b"" if b'\\"mug\\"' in seen or b'"mug"' in seen else read_until(chunks, b"mug")
            assert b"Let me look." in seen
            assert b"Red mug" not in seen
            reach_other_users(app)
            shop.answer()
            seen += b"".join(chunks)
    assert [(row["name"], row["price"]) for row in table_in(page, seen)] == [("Red mug", 1500), ("Blue mug", 900)]
    told = upstream.asked[-1].body["messages"][-1]
    assert (told["role"], "surfaceId" in told["content"], "1500" in told["content"]) == ("tool", False, True)


@EACH_PAGE
def test_a_silent_search_keeps_the_connection_open(
    start_app: StartApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: PageProtocol
) -> None:
    """Pings arrive while the shop is silent, and change nothing in the client."""
    monkeypatch.setattr(streaming, "PING_SECONDS", 0.05)
    with held_shop(tmp_path) as shop:
        app, _ = start_app(SEARCH, says("Found."), settings=shop.settings)
        with app.client.stream("POST", page.path, json=page.ask("A mug, please.", "shop")) as response:
            chunks = response.iter_raw()
            shop.accept()
            seen = read_until(chunks, PINGS.get(page.name, b": ping\n\n"))
            shop.answer()
            seen += b"".join(chunks)
    assert len(table_in(page, seen)) == 2


@pytest.mark.parametrize("page", [page for page in PAGES if page is not AI_SDK], ids=lambda page: page.name)
def test_a_client_that_leaves_ends_the_search(start_app: StartApp, tmp_path: Path, page: PageProtocol) -> None:
    """The request to the shop is closed, the call has one result, and no further request is sent to the model."""
    with held_shop(tmp_path) as shop:
        app, upstream = start_app(SEARCH, says("Never."), settings=shop.settings)
        with (
            httpx.Client(base_url=app.url, timeout=WAIT, trust_env=False) as client,
            client.stream("POST", page.path, json=page.ask("A mug, please.", "shop")) as response,
        ):
            run_id = response.headers["x-run-id"]
            shop.accept()
        shop.wait_until_left()
        run = app.over(run_id)
    trace = app.client.get(f"/api/runs/{run.id}").json()
    assert trace["status"] == "cancelled"
    assert len(upstream.asked) == 1


def test_a_chat_of_the_ai_sdk_goes_on_and_its_stop_ends_the_search(start_app: StartApp, tmp_path: Path) -> None:
    """There a closed connection means a reload, so only the stop endpoint stops."""
    with held_shop(tmp_path) as shop:
        app, upstream = start_app(SEARCH, says("Never."), settings=shop.settings)
        with (
            httpx.Client(base_url=app.url, timeout=WAIT, trust_env=False) as client,
            client.stream("POST", AI_SDK.path, json=AI_SDK.ask("A mug, please.", "shop")) as response,
        ):
            run_id = response.headers["x-run-id"]
            shop.accept()
        assert app.client.post(f"{AI_SDK.path}/shop/stop").json()["stopped"] == [run_id]
        shop.wait_until_left()
        app.over(run_id)
    assert len(upstream.asked) == 1
