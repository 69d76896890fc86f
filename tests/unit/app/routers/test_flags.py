"""The feature flag over HTTP: who may override it, what it changes, and what each run reports of its loop."""

import json
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.fixtures import StartApp
from tests.support.processes import Process, serving
from tests.support.running_app import RunningApp, error_of, read_until, settings_for
from tests.support.scripted_upstream import DONE, Exchange, ScriptedUpstream, call_chunk, chunk, says
from tests.support.stream_reader import ParsedStream, check_stream

URL = "/api/flags/tool_loop_v2"
TOKEN = "operator-token"
ADMIN = {"authorization": f"Bearer {TOKEN}"}
UNSET = ("v2", {"variant": "v2", "reason": "DEFAULT"})
V2_ON, LEGACY_OFF = ("v2", {"variant": "v2", "reason": "STATIC"}), ("legacy", {"variant": "legacy", "reason": "STATIC"})


@pytest.fixture
def flag_app(start_app: StartApp) -> RunningApp:
    """Run an app over a provider that says hello, without TOOL_LOOP_V2, with an operator's token."""
    return start_app(says("Hello."), settings={"tool_loop_v2": None, "signalbox_admin_token": TOKEN})[0]


def pull(
    app: RunningApp, state: str, percent: int | None = None, headers: dict[str, str] | None = None
) -> httpx.Response:
    """Set the override as the operator."""
    body = {"state": state} | ({} if percent is None else {"percent": percent})
    return app.client.put(URL, json=body, headers=ADMIN | (headers or {}))


def chosen_loop(app: RunningApp, headers: dict[str, str] | None = None, **body: Any) -> tuple[str, dict[str, str]]:
    """Ask; return the loop and its reason, after checking that headers, first frame and `done` agree."""
    asked = {"model": "openai/sim", "prompt": "Hello!", "tools": [], **body}
    response = app.client.post("/api/chat/stream", json=asked, headers=headers)
    return loop_and_flag(response.headers["x-tool-loop"], check_stream(response.content))


def loop_and_flag(header: str, heard: ParsedStream) -> tuple[str, dict[str, str]]:
    """Return loop and flag, after checking that headers, first frame and `done` agree."""
    assert header == heard.events[0]["loop"] == heard.done["loop"] == heard.done["flag"]["variant"]
    return heard.done["loop"], heard.done["flag"]


# --- who may pull it ---


def test_the_flag_can_be_read(flag_app: RunningApp) -> None:
    """The response has the state, the share, the environment and a sentence about the next run."""
    told = flag_app.client.get(URL).json()
    assert set(told) == {"key", "state", "percent", "environment", "effective", "sticky"}
    assert (told["key"], told["state"], told["percent"], told["environment"]) == ("tool_loop_v2", None, None, None)
    assert told["effective"] == "Every run uses the V2 loop: this is the default."
    told = pull(flag_app, "percent", 20).json()
    assert (told["state"], told["percent"]) == ("percent", 20)
    assert "20 %" in told["effective"]
    assert flag_app.client.get(URL).json() == told
    assert "V2" in pull(flag_app, "on").json()["effective"]


@pytest.mark.parametrize(
    "given", [None, "", "Bearer", "Bearer wrong", "Bearer operator-toke", "Basic b3A=", "Bearer \xe4"]
)
def test_the_override_requires_the_operator_token(flag_app: RunningApp, given: str | None) -> None:
    """Without the operator token it is a 401, before the body is read, and nothing changes."""
    headers = [] if given is None else [(b"authorization", given.encode("latin-1"))]
    for body in (b'{"state":"on"}', b"{", b""):
        response = flag_app.client.put(URL, content=body, headers=headers)
        assert (response.status_code, error_of(response)["code"]) == (401, "UNAUTHORIZED")
    assert flag_app.client.get(URL).json()["state"] is None


@pytest.mark.parametrize(
    "body",
    [
        {"state": "ON"},
        {"state": "half"},
        {"state": None},
        {},
        {"state": "percent"},
        {"state": "percent", "percent": 101},
        {"state": "percent", "percent": -1},
        {"state": "percent", "percent": 12.5},
        {"state": "percent", "percent": "20"},
        {"state": "percent", "percent": True},
        {"state": "on", "percent": 20},
        {"state": "on", "who": "me"},
    ],
)
def test_an_invalid_override_changes_nothing(flag_app: RunningApp, body: dict[str, Any]) -> None:
    """An invalid state is a 422 that names the field, and nothing changes."""
    pull(flag_app, "percent", 7)
    response = flag_app.client.put(URL, json=body, headers=ADMIN)
    assert response.status_code == 422
    error_of(response)
    assert flag_app.client.get(URL).json()["percent"] == 7


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"origin": "https://evil.example"}, "ORIGIN_NOT_ALLOWED"),
        ({"origin": "null"}, "ORIGIN_NOT_ALLOWED"),
        ({"sec-fetch-site": "cross-site"}, "ORIGIN_NOT_ALLOWED"),
        ({"host": "evil.example"}, "HOST_NOT_ALLOWED"),
    ],
)
def test_pages_of_other_origins_cannot_override(flag_app: RunningApp, headers: dict[str, str], code: str) -> None:
    """A page of another origin is rejected even with the right token."""
    response = pull(flag_app, "on", headers=headers)
    assert (response.status_code, error_of(response)["code"]) == (403, code)
    assert flag_app.client.get(URL).json()["state"] is None


def test_the_operator_page_may_override(flag_app: RunningApp) -> None:
    """The operator page sets the override."""
    assert pull(flag_app, "on", headers={"origin": flag_app.url, "sec-fetch-site": "same-origin"}).status_code == 200


def test_the_access_token_is_not_the_operators(tmp_path: Path) -> None:
    """The access token does not allow an override; the operator token allows both."""
    settings = settings_for(tmp_path, signalbox_access_token="guest", signalbox_admin_token=TOKEN)
    with RunningApp(settings) as app:
        assert app.client.get(URL).status_code == 401
        guest = {"authorization": "Bearer guest"}
        assert app.client.get(URL, headers=guest).status_code == 200
        assert app.client.put(URL, json={"state": "on"}, headers=guest).status_code == 401
        assert pull(app, "on").status_code == 200


def test_an_override_that_cannot_be_stored_is_an_error(flag_app: RunningApp, tmp_path: Path) -> None:
    """A full or missing disk is an error response, not a success."""
    data = flag_app.parts.settings.signalbox_data_dir
    data.rename(tmp_path / "moved")
    assert pull(flag_app, "on").status_code == 500
    (tmp_path / "moved").rename(data)
    assert flag_app.client.get(URL).json()["state"] is None


# --- what it does ---


def test_the_next_run_follows_the_override(flag_app: RunningApp) -> None:
    """On, off and on again: each override applies to the next question."""
    assert chosen_loop(flag_app) == UNSET
    for state, expected in (("on", V2_ON), ("off", LEGACY_OFF), ("on", V2_ON), ("off", LEGACY_OFF)):
        assert pull(flag_app, state).status_code == 200
        assert chosen_loop(flag_app) == expected


def test_what_the_upstream_receives_changes_with_it(start_app: StartApp) -> None:
    """With tools, V2 requests a stream from the upstream and legacy a whole answer."""

    async def either(exchange: Exchange) -> None:
        if exchange.asked.body["stream"]:
            await says("Hello.")(exchange)
        else:
            message = {"role": "assistant", "content": "Hello."}
            body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
            await exchange.whole(200, json.dumps(body).encode())

    app, upstream = start_app(either, settings={"tool_loop_v2": True, "signalbox_admin_token": TOKEN})
    for state in ("on", "off"):
        pull(app, state)
        assert app.ask(tools=["calculate"]).text == "Hello."
    assert [asked.body["stream"] for asked in upstream.asked] == [True, False]


def test_runs_in_flight_keep_their_loop(start_app: StartApp) -> None:
    """A run that started on V2 stays on V2 after the override; the next run is on legacy."""

    async def waits_to_call(exchange: Exchange) -> None:
        await exchange.head()
        await exchange.send_text("Let me see.")
        await exchange.gate_opened()
        await exchange.send(call_chunk("calculate", '{"expression":"6*7"}') + chunk({}, finish="tool_calls") + DONE)
        await exchange.raw(b"0\r\n\r\n")

    settings = {"tool_loop_v2": True, "signalbox_admin_token": TOKEN}
    app, upstream = start_app(waits_to_call, says("42."), settings=settings)
    with app.asking(tools=["calculate"]) as response:
        chunks = response.iter_raw()
        seen = read_until(chunks, b"Let me see.")
        assert pull(app, "off").status_code == 200
        assert chosen_loop(app) == LEGACY_OFF
        upstream.opened.set()
        heard = check_stream(seen + b"".join(chunks))
    assert loop_and_flag(response.headers["x-tool-loop"], heard) == ("v2", {"variant": "v2", "reason": "STATIC"})
    assert heard.text == "Let me see.\n\n42."
    with_tools = [asked.body["stream"] for asked in upstream.asked if "tools" in asked.body]
    assert with_tools == [True, True]


def test_the_kill_switch_is_overridden_by_nothing(start_app: StartApp) -> None:
    """With `TOOL_LOOP_V2=false` the run is on legacy, whatever the override and the header are."""
    settings = {"tool_loop_v2": False, "signalbox_admin_token": TOKEN, "signalbox_allow_loop_header": True}
    app, _ = start_app(says("Hello."), settings=settings)
    told = pull(app, "on").json()
    assert (told["state"], told["environment"]) == ("on", False)
    assert "cannot be overridden" in told["effective"]
    assert (
        chosen_loop(app)
        == chosen_loop(app, {"x-tool-loop": "v2"})
        == ("legacy", {"variant": "legacy", "reason": "DISABLED"})
    )


def test_a_request_may_choose_only_where_that_is_allowed(start_app: StartApp) -> None:
    """The header is used only with SIGNALBOX_ALLOW_LOOP_HEADER, and ignored without."""
    settings = {"tool_loop_v2": None, "signalbox_admin_token": TOKEN, "signalbox_allow_loop_header": True}
    app, _ = start_app(says("Hello."), settings=settings)
    for state in ("off", "on"):
        pull(app, state)
        for asked in ("v2", "legacy"):
            assert chosen_loop(app, {"x-tool-loop": asked}) == (asked, {"variant": asked, "reason": "TARGETING_MATCH"})
    response = app.client.post("/api/chat/stream", json={"model": "m", "prompt": "x"}, headers={"x-tool-loop": "v3"})
    assert (response.status_code, error_of(response)["field"]) == (422, "x-tool-loop")


@pytest.mark.parametrize("header", ["legacy", "v3", ""])
def test_a_header_that_does_not_count_is_ignored(flag_app: RunningApp, header: str) -> None:
    """Without the setting the header is ignored, not rejected."""
    assert chosen_loop(flag_app, {"x-tool-loop": header}) == UNSET


def test_a_conversation_keeps_its_loop(flag_app: RunningApp) -> None:
    """A share applies to conversations: each keeps its loop, and both loops get some."""
    pull(flag_app, "percent", 50)
    first = {f"talk-{n}": chosen_loop(flag_app, conversation_id=f"talk-{n}") for n in range(12)}
    assert {loop for loop, _ in first.values()} == {"v2", "legacy"}
    assert {flag["reason"] for _, flag in first.values()} == {"SPLIT"}
    assert first == {conversation: chosen_loop(flag_app, conversation_id=conversation) for conversation in first}
    pull(flag_app, "percent", 80)
    stayed = [
        chosen_loop(flag_app, conversation_id=conversation)[0]
        for conversation, (loop, _) in first.items()
        if loop == "v2"
    ]
    assert set(stayed) == {"v2"}


def test_without_a_conversation_the_share_falls_on_runs(flag_app: RunningApp) -> None:
    """Questions without a conversation are distributed over both loops."""
    pull(flag_app, "percent", 50)
    assert {chosen_loop(flag_app)[0] for _ in range(40)} == {"v2", "legacy"}


def test_the_trace_tells_why(flag_app: RunningApp) -> None:
    """The list of runs has the loop, the trace has the flag."""
    pull(flag_app, "on")
    run_id = flag_app.post(prompt="Hello!", tools=[]).headers["x-run-id"]
    [line] = flag_app.client.get("/api/runs").json()["runs"]
    assert (line["run_id"], line["loop"]) == (run_id, "v2")
    done = flag_app.client.get(f"/api/runs/{run_id}").json()["done"]
    assert (done["loop"], done["flag"]) == V2_ON


def test_concurrent_overrides_leave_a_valid_one(flag_app: RunningApp) -> None:
    """Concurrent overrides all succeed, and the stored one is valid."""
    statuses: list[int] = []

    def one(percent: int) -> None:
        response = httpx.put(
            flag_app.url + URL, json={"state": "percent", "percent": percent}, headers=ADMIN, trust_env=False
        )
        statuses.append(response.status_code)

    hands = [threading.Thread(target=one, args=[n]) for n in range(8)]
    for hand in hands:
        hand.start()
    for hand in hands:
        hand.join()
    assert statuses == [200] * 8
    assert flag_app.client.get(URL).json()["percent"] in range(8)


# --- restarts, other processes, the token's file ---


def ask_process(process: Process) -> tuple[str, dict[str, str]]:
    """Ask a server process a question, and return the loop."""
    with process.client() as client:
        response = client.post("/api/chat/stream", json={"model": "openai/sim", "prompt": "Hello!", "tools": []})
    return loop_and_flag(response.headers["x-tool-loop"], check_stream(response.content))


@pytest.mark.e2e
def test_the_override_survives_a_restart(tmp_path: Path) -> None:
    """The override survives a restart; the kill switch takes precedence and does not change it."""
    with ScriptedUpstream(says("Hello.")) as upstream:
        env = {"OPENROUTER_BASE_URL": upstream.base_url, "SIGNALBOX_ADMIN_TOKEN": TOKEN}
        with serving(tmp_path, env=env) as process, process.client() as client:
            assert ask_process(process) == UNSET
            assert client.put(URL, json={"state": "on"}, headers=ADMIN).status_code == 200
        with serving(tmp_path, env=env) as process:
            assert ask_process(process) == V2_ON
        with serving(tmp_path, env={**env, "TOOL_LOOP_V2": "false"}) as process:
            assert ask_process(process) == ("legacy", {"variant": "legacy", "reason": "DISABLED"})
        with serving(tmp_path, env={**env, "TOOL_LOOP_V2": "true"}) as process, process.client() as client:
            assert ask_process(process) == V2_ON
            assert client.put(URL, json={"state": "off"}, headers=ADMIN).status_code == 200
            assert ask_process(process) == LEGACY_OFF
