"""E1, E2, E4-E6, E9, E10: streams that providers change or break, through the whole app."""

import json

import pytest
from signalbox.app.asgi import streaming
from signalbox.chat.loops.retry import Retry

from tests.scenarios.quirks.assertions import ASKED, SEARCH, answered, body_of, is_whole, ran
from tests.scenarios.quirks.sim_runs import Asker, Body, scripted
from tests.support.fakes import make_tool
from tests.support.fixtures import StartApp
from tests.support.running_app import read_until
from tests.support.scripted_upstream import DONE, Exchange, call_chunk, chunk, waits
from tests.support.stream_reader import check_stream

HEADER = {"signalbox_allow_loop_header": True}
LOOPS = pytest.mark.parametrize("loop", ["v2", "legacy"])
FAMILIES = pytest.mark.parametrize("family", ["openai", "google"])
BEGINNING = "This is the beginning of an answer that may never be complete"
# Without tools both loops stream, so both are affected.
STREAMED: Body = {"tools": []}


# ---- E1: errors inside a 200


@FAMILIES
@pytest.mark.parametrize("shape", ["e01", "e01-finish"])
def test_e01_an_error_in_the_middle(ask_sim: Asker, family: str, shape: str) -> None:
    """An error chunk or the finish reason `error` ends the run as an error; the text stays, without a retry."""
    observed = ask_sim(f"{family}/sim-quirk-{shape}", ASKED, **STREAMED)
    assert observed.status == ("error", "UPSTREAM_ERROR")
    assert observed.heard.text.startswith(BEGINNING)
    assert observed.heard.types[-3:] == ["content", "warning", "done"]
    assert len(observed.requests) == 1


@pytest.mark.parametrize(
    ("shape", "code"), [("first", "UPSTREAM_ERROR"), ("429", "RATE_LIMIT"), ("body", "RATE_LIMIT")]
)
def test_e01_an_error_and_nothing_else(ask_sim: Asker, no_waiting: list[Retry], shape: str, code: str) -> None:
    """An error as the first chunk or as the body is retried, then reported: never an empty answer."""
    observed = ask_sim(f"openai/sim-quirk-e01-{shape}", ASKED, **STREAMED)
    assert observed.status == ("error", code)
    assert observed.heard.types == ["warning", "done"]
    assert len(observed.requests) == 3
    if code == "RATE_LIMIT":
        assert all(0 < retry.wait <= 0.5 for retry in no_waiting)


@pytest.mark.parametrize("shape", ["once", "429-once"])
def test_e01_an_error_that_passes(ask_sim: Asker, no_waiting: list[Retry], shape: str) -> None:
    """With nothing shown yet, the step is retried silently."""
    observed = ask_sim(f"openai/sim-quirk-e01-{shape}")
    answered(observed)
    assert len(no_waiting) == 1
    assert observed.heard.result_codes() == [None]


@LOOPS
def test_e01_the_same_class_as_the_status(start_app: StartApp, no_waiting: list[Retry], loop: str) -> None:
    """An error has the same code as a status, in the body of a 200 and in the first chunk."""

    async def refuses(exchange: Exchange) -> None:
        form, code = str(exchange.asked.body["messages"][-1]["content"]).split()
        error = {"code": int(code), "message": "No."}
        if form == "chunk":
            await exchange.head()
            await exchange.send(chunk({}, choices=[], error=error))
            await exchange.raw(b"0\r\n\r\n")
        else:
            await exchange.whole(int(code) if form == "status" else 200, json.dumps({"error": error}).encode())

    app, upstream = start_app(refuses, settings=HEADER)
    for code in (400, 401, 402, 403, 404, 413, 429, 503, 529):
        ended = {
            form: scripted(app, upstream.asked, loop, prompt=f"{form} {code}", tools=[]).status
            for form in ("status", "chunk", "body")
        }
        assert len(set(ended.values())) == 1, ended
        assert ended["status"][0] == "error"


@LOOPS
def test_e01_an_error_behind_a_call(start_app: StartApp, no_waiting: list[Retry], loop: str) -> None:
    """A call of a failed step has a result and is not executed; the run is an error."""
    rung: list[object] = []
    tool = make_tool("bell", lambda arguments, _: rung.append(arguments) or "rung")
    error = {"code": 502, "message": "Provider disconnected"}

    async def breaks(exchange: Exchange) -> None:
        if is_whole(exchange):
            made = {"type": "function", "id": "call_1", "function": {"name": "bell", "arguments": "{}"}}
            await exchange.whole(200, body_of({"tool_calls": [made]}, finish_reason="error", error=error))
            return
        await exchange.head()
        await exchange.send_text("One moment.")
        await exchange.send(call_chunk("bell", "{}") + chunk({}, choices=[], error=error))
        await exchange.raw(b"0\r\n\r\n")

    app, upstream = start_app(breaks, extra_tools=[tool], settings=HEADER)
    observed = scripted(app, upstream.asked, loop, tools=["bell"])
    assert observed.status[0] == "error"
    assert rung == []
    assert observed.heard.of("tool_executing") == []
    assert loop == "legacy" or observed.heard.text == "One moment."


# ---- E2: streams without an end


@FAMILIES
def test_e02_a_clean_end_in_the_middle(ask_sim: Asker, family: str) -> None:
    """A body without a finish reason and `[DONE]` is interrupted: the text stays and the client may retry."""
    observed = ask_sim(f"{family}/sim-quirk-e02", ASKED, **STREAMED)
    assert observed.status == ("interrupted", "STREAM_CUT")
    assert observed.heard.text.startswith(BEGINNING)
    assert observed.heard.done["retryable"] is True
    assert len(observed.requests) == 1


@LOOPS
def test_e02_a_cut_step_runs_nothing(start_app: StartApp, no_waiting: list[Retry], loop: str) -> None:
    """A complete call in a stream without an end is not executed."""
    rung: list[object] = []
    tool = make_tool("bell", lambda arguments, _: rung.append(arguments) or "rung")

    async def cut(exchange: Exchange) -> None:
        await exchange.head(kind="application/json" if is_whole(exchange) else "text/event-stream")
        whole = body_of({"tool_calls": [{"id": "c", "function": {"name": "bell", "arguments": "{}"}}]})
        await exchange.send(
            whole[:-20] if is_whole(exchange) else chunk({"content": "Now."}) + call_chunk("bell", "{}")
        )
        await exchange.raw(b"0\r\n\r\n")

    app, upstream = start_app(cut, extra_tools=[tool], settings=HEADER)
    observed = scripted(app, upstream.asked, loop, tools=["bell"])
    assert rung == []
    assert observed.heard.done["status"] in ("interrupted", "error")
    assert observed.heard.done["code"] in ("STREAM_CUT", "UPSTREAM_PROTOCOL")
    assert loop == "legacy" or (observed.heard.text, observed.heard.done["status"]) == ("Now.", "interrupted")


def test_e02_done_and_nothing_else(ask_sim: Asker, no_waiting: list[Retry]) -> None:
    """A body of only `[DONE]` is retried, then reported as cut."""
    observed = ask_sim("openai/sim-quirk-e02-done-only", ASKED, **STREAMED)
    assert observed.status == ("interrupted", "STREAM_CUT")
    assert len(observed.requests) == 3


@FAMILIES
def test_e02_no_done_behind_a_finish(ask_sim: Asker, family: str) -> None:
    """A finish reason without `[DONE]` is a complete answer."""
    ran(ask_sim(f"{family}/sim-quirk-e02-no-done", ASKED), SEARCH)
    answered(ask_sim(f"{family}/sim-quirk-e02-no-done", ASKED, **STREAMED))


# ---- E4-E6: bytes


@FAMILIES
@pytest.mark.parametrize("shape", ["e04", "e04-data", "e04-empty", "e04-id", "e04-crlf"])
def test_e04_keep_alives(ask_sim: Asker, family: str, shape: str) -> None:
    """Comments, also in data lines, empty data, ids and CRLF do not change the text."""
    observed = ask_sim(f"{family}/sim-quirk-{shape}", ASKED)
    ran(observed, SEARCH)
    assert observed.heard.text == ask_sim(f"{family}/sim-quirk-a12", ASKED).heard.text
    assert "OPENROUTER" not in observed.heard.raw.decode()
    assert "keepalive" not in observed.heard.raw.decode()


@LOOPS
def test_e04_toward_the_browser(start_app: StartApp, monkeypatch: pytest.MonkeyPatch, loop: str) -> None:
    """Pings are sent every 15 seconds while the model is silent, only between events."""
    assert streaming.PING_SECONDS == 15.0
    monkeypatch.setattr(streaming, "PING_SECONDS", 0.01)
    app, upstream = start_app(waits, settings={"tool_loop_v2": loop == "v2"})
    with app.asking(tools=[]) as response:
        chunks = response.iter_raw()
        seen = read_until(chunks, b": ping\n\n")
        upstream.opened.set()
        heard = check_stream(seen + b"".join(chunks))
    assert heard.text == "First second."
    assert set(heard.comments) == {"ping"}


@FAMILIES
@pytest.mark.parametrize("shape", ["e05", "e06"])
def test_e05_e06_separators_and_single_bytes(ask_sim: Asker, family: str, shape: str) -> None:
    """U+2028, U+2029 and U+0085 are letters inside a string; split characters are restored."""
    observed = ask_sim(f"{family}/sim-quirk-{shape}", ASKED)
    topic = "tool loop Signalbox work"
    ran(observed, ("search_web", {"query": f"{topic}\u2028{topic}\u0085"}))
    lines = "One line.\u2028Another line.\u2029A third one.\u0085And a fourth one, with an emoji 🙂 and an accent é."
    assert observed.heard.text == lines


def test_e06_a_step_of_calls_byte_by_byte(start_app: StartApp) -> None:
    """A call and an answer with multi-byte characters arrive intact one byte at a time."""
    steps = [call_chunk("bell", '{"n":"é🙂"}') + chunk({}, finish="tool_calls") + DONE, chunk({"content": "Grüße 🙂"})]
    steps[1] += chunk({}, finish="stop") + DONE

    async def by_bytes(exchange: Exchange) -> None:
        await exchange.head()
        step = steps[1 if any(said["role"] == "tool" for said in exchange.asked.body["messages"]) else 0]
        for at in range(len(step)):
            await exchange.send(step[at : at + 1])
        await exchange.raw(b"0\r\n\r\n")

    app, _ = start_app(by_bytes, extra_tools=[make_tool("bell")])
    heard = app.ask(tools=["bell"])
    assert heard.arguments == [{"n": "é🙂"}]
    assert heard.text == "Grüße 🙂"


def test_e06_halves_of_a_character(start_app: StartApp) -> None:
    """A surrogate pair that is split over two frames is joined, also in call arguments."""
    rest = chunk({"tool_calls": [{"index": 0, "function": {"arguments": '\ude42"}'}}]})
    steps = [
        call_chunk("bell", '{"n":"\ud83d') + rest + chunk({}, finish="tool_calls") + DONE,
        chunk({"content": "Well \ud83d"}) + chunk({"content": "\ude42 done"}) + chunk({}, finish="stop") + DONE,
    ]

    async def in_frames(exchange: Exchange) -> None:
        step = steps[1 if any(said["role"] == "tool" for said in exchange.asked.body["messages"]) else 0]
        await exchange.head()
        await exchange.send(step)
        await exchange.raw(b"0\r\n\r\n")

    app, _ = start_app(in_frames, extra_tools=[make_tool("bell")])
    heard = app.ask(tools=["bell"])
    assert heard.arguments == [{"n": "🙂"}]
    assert heard.text == "Well 🙂 done"


# ---- E9, E10: incomplete and joined frames


@FAMILIES
@pytest.mark.parametrize("shape", ["e09", "e09-choices", "e09-delta", "e09-usage"])
def test_e09_chunks_without_choices_or_delta(ask_sim: Asker, family: str, shape: str) -> None:
    """Filter results, null deltas and bare usage cause no text and no error; usage counts."""
    observed = ask_sim(f"{family}/sim-quirk-{shape}", ASKED)
    ran(observed, SEARCH)
    assert observed.heard.done["usage"]["output"] > 0
    assert "cost_estimated" not in observed.heard.done
    assert observed.heard.text == ask_sim(f"{family}/sim-quirk-a12", ASKED).heard.text


@LOOPS
def test_e09_an_error_beside_no_choices(start_app: StartApp, loop: str) -> None:
    """An error in a chunk without choices is reported."""

    async def fails(exchange: Exchange) -> None:
        await exchange.head()
        await exchange.send_text("So far")
        await exchange.send(chunk({}, choices=[], error={"code": 400, "message": "Bad prompt"}) + DONE)
        await exchange.raw(b"0\r\n\r\n")

    app, upstream = start_app(fails, settings=HEADER)
    observed = scripted(app, upstream.asked, loop, tools=[])
    assert observed.status == ("error", "UPSTREAM_REJECTED")
    assert observed.heard.text == "So far"


@FAMILIES
def test_e10_a_cut_frame_and_a_whole_one(ask_sim: Asker, family: str) -> None:
    """The frame after a cut one is read; the cut one gives one warning, and no text is lost."""
    observed = ask_sim(f"{family}/sim-quirk-e10", ASKED, **STREAMED)
    assert observed.heard.done["status"] == "complete"
    assert observed.heard.warnings == ["FRAME_UNREADABLE"]
    assert observed.heard.text == ask_sim(f"{family}/sim-quirk-e02-no-done", ASKED, **STREAMED).heard.text


@pytest.mark.parametrize("family", ["openai", "deepseek"])
def test_e10_more_than_a_few(ask_sim: Asker, family: str) -> None:
    """Many broken frames are an error, with the text so far."""
    observed = ask_sim(f"{family}/sim-quirk-e10-many", ASKED, **STREAMED)
    assert observed.status == ("error", "UPSTREAM_PROTOCOL")
    assert BEGINNING.startswith(observed.heard.text[:40])
    assert observed.heard.text
