"""A run falls back to the next upstream of its route, as long as nothing is visible and nothing is remembered."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from signalbox.chat.loops.retry import Retry
from signalbox.core.codes import CODES, Code
from signalbox.wire.dialects import DIALECTS

from tests.scenarios.upstreams.conftest import Serve
from tests.scenarios.upstreams.two_upstreams import FILE, FIRST_KEY, MODEL, SECOND_KEY, TwoUpstreams, models_of
from tests.support.scripted_upstream import DONE, Exchange, Script, call_chunk, calls_then, chunk, says, sends, silent
from tests.support.stream_reader import ParsedStream

LOOPS = pytest.mark.parametrize("loop", ["v2", "legacy"])


def rejects(status: int, message: str = "No.", **fields: Any) -> Script:
    """Make a script that answers with an error status; the message quotes the key of the request."""

    async def script(exchange: Exchange) -> None:
        key = exchange.asked.headers.get("authorization", "")
        error = {"code": status, "message": f"{message} {key}", **fields}
        await exchange.whole(status, json.dumps({"error": error}).encode())

    return script


async def cuts(exchange: Exchange) -> None:
    """End the connection after the head."""
    await exchange.head()


async def keeps_alive(exchange: Exchange) -> None:
    """Send keep-alives until the client leaves."""
    await exchange.head()
    while not exchange.writer.is_closing():
        await exchange.send(b": PROCESSING\n\n")
        await asyncio.sleep(0.01)


FAILURES: dict[str, tuple[Script, Code]] = {
    "overloaded": (rejects(503), Code.UPSTREAM_OVERLOADED),
    "5xx": (rejects(500), Code.UPSTREAM_ERROR),
    "timeout": (rejects(504), Code.UPSTREAM_TIMEOUT),
    "rate limit": (rejects(429), Code.RATE_LIMIT),
    "credits": (rejects(402), Code.UPSTREAM_CREDITS),
    "auth": (rejects(401), Code.UPSTREAM_AUTH),
    "not found": (rejects(404), Code.UPSTREAM_NOT_FOUND),
    "stalled": (silent, Code.UPSTREAM_STALLED),
    "cut before the first token": (cuts, Code.STREAM_CUT),
    "an error frame": (
        sends(b'data: {"error":{"code":502,"message":"Bad gateway"}}\n\n', DONE),
        Code.UPSTREAM_ERROR,
    ),
}


def warnings(heard: ParsedStream) -> list[str]:
    """Return the codes of the warnings."""
    return [event["code"] for event in heard.events if event["type"] == "warning"]


def fallback_warning(heard: ParsedStream) -> str:
    """Return the message of the only fallback."""
    (message,) = [event["message"] for event in heard.events if event.get("code") == "UPSTREAM_FALLBACK"]
    return message


@LOOPS
@pytest.mark.parametrize("failure", FAILURES)
def test_each_kind_of_failure_falls_back(serve: Serve, no_waiting: list[Retry], failure: str, loop: str) -> None:
    """The client gets a warning that says from where to where and why, and one whole answer of the same model."""
    script, code = FAILURES[failure]
    file = FILE.replace("timeout = 5", "timeout = 0.05")
    two = serve([script], [says("Hi.")], file=file, settings={"tool_loop_v2": loop == "v2"})
    heard = two.ask(tools=[])
    assert (heard.done["status"], heard.done["upstream"], heard.done["requested_model"]) == (
        "complete",
        "second",
        MODEL,
    )
    assert warnings(heard) == ["UPSTREAM_FALLBACK"]
    why = CODES[code].sentence.removesuffix(".")
    assert fallback_warning(heard) == f'The upstream "first" failed ({why}), so the same model is called at "second".'
    attempts = two.attempts(heard)
    assert attempts[-1] == ("second", None)
    assert {*attempts[:-1]} == {("first", str(code))}
    assert models_of(two.second.asked) == ["vendor/second-model"]
    assert two.second.asked[0].headers["authorization"] == f"Bearer {SECOND_KEY}"
    assert FIRST_KEY not in heard.raw.decode()


@LOOPS
def test_an_upstream_that_sends_only_keep_alives(serve: Serve, no_waiting: list[Retry], loop: str) -> None:
    """It is stalled after `progress_timeout`, although it is never silent for `timeout`."""
    file = FILE.replace("timeout = 5", "progress_timeout = 0.05")
    two = serve([keeps_alive], [says("Hi.")], file=file, settings={"tool_loop_v2": loop == "v2"})
    heard = two.ask(tools=[])
    assert (heard.done["status"], heard.done["upstream"]) == ("complete", "second")
    assert warnings(heard) == ["UPSTREAM_FALLBACK"]
    assert {*two.attempts(heard)[:-1]} == {("first", "UPSTREAM_STALLED")}


def test_an_upstream_where_nothing_listens(serve: Serve, no_waiting: list[Retry]) -> None:
    """No connection: the next one answers."""
    two = serve([says("Never.")], [says("Hi.")], file=FILE.replace("{first}", "http://127.0.0.1:9/v1"))
    heard = two.ask()
    assert heard.done["upstream"] == "second"
    assert {*two.attempts(heard)} == {("first", "UPSTREAM_UNREACHABLE"), ("second", None)}


@LOOPS
def test_whole_replies_fall_back_too(serve: Serve, loop: str) -> None:
    """With tools, the legacy loop reads whole replies."""
    whole = {"choices": [{"message": {"role": "assistant", "content": "Hi."}, "finish_reason": "stop"}]}

    async def answers(exchange: Exchange) -> None:
        if exchange.asked.body.get("stream"):
            await says("Hi.")(exchange)
        else:
            await exchange.whole(200, json.dumps(whole).encode())

    two = serve([rejects(401)], [answers], settings={"tool_loop_v2": loop == "v2"})
    heard = two.ask(tools=["calculate"])
    assert (heard.done["status"], heard.done["upstream"]) == ("complete", "second")
    assert [streamed["streamed"] for streamed in two.trace(heard)["attempts"]] == [loop == "v2"] * 2


@pytest.mark.parametrize("status", [400, 403, 413], ids=["rejected", "forbidden", "too large"])
def test_an_error_of_the_request_does_not_fall_back(serve: Serve, status: int) -> None:
    """Another upstream would reject the same request."""
    two = serve([rejects(status)], [says("Never.")])
    heard = two.ask(tools=[])
    assert (heard.done["status"], heard.done["upstream"]) == ("error", "first")
    assert two.asked()[1] == 0


def cut_after(*pieces: bytes) -> Script:
    """Make a script that sends frames and ends the connection."""

    async def script(exchange: Exchange) -> None:
        await exchange.head()
        for piece in pieces:
            await exchange.send(piece)

    return script


@pytest.mark.parametrize(
    "pieces",
    [(chunk({"content": "So far"}),), (chunk({"reasoning": "Let me see"}),)],
    ids=["text", "reasoning"],
)
def test_nothing_falls_back_once_something_is_visible(serve: Serve, pieces: Sequence[bytes]) -> None:
    """Text would appear twice, or be continued by another upstream."""
    two = serve([cut_after(*pieces)], [says("Never.")])
    heard = two.ask(tools=[])
    assert (heard.done["status"], heard.done["code"], heard.done["upstream"]) == ("interrupted", "STREAM_CUT", "first")
    assert two.asked() == (1, 0)


@LOOPS
def test_nothing_falls_back_after_a_remembered_step(serve: Serve, no_waiting: list[Retry], loop: str) -> None:
    """The second step depends on what the first upstream has sent, so the run ends with its error."""
    call = calls_then(call_chunk("calculate", '{"expression":"1+1"}'))
    message = {
        "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "calculate", "arguments": '{"expression":"1+1"}'}}
        ]
    }

    async def calls(exchange: Exchange) -> None:
        if exchange.asked.body.get("stream"):
            await call(exchange)
        else:
            choice = {"message": {"role": "assistant", "content": "", **message}, "finish_reason": "tool_calls"}
            await exchange.whole(200, json.dumps({"choices": [choice]}).encode())

    two = serve([calls, rejects(401)], [says("Never.")], settings={"tool_loop_v2": loop == "v2"})
    heard = two.ask(tools=["calculate"])
    assert (heard.done["status"], heard.done["code"]) == ("error", "UPSTREAM_AUTH")
    assert two.attempts(heard) == [("first", None), ("first", "UPSTREAM_AUTH")]
    assert two.asked() == (2, 0)


def test_after_the_last_upstream_its_error_ends_the_run(serve: Serve) -> None:
    """If the second upstream fails, too, the run ends with its error. A warning has reported the first failure."""
    two = serve([rejects(401)], [rejects(402)])
    heard = two.ask(tools=[])
    assert (heard.done["status"], heard.done["code"], heard.done["upstream"]) == (
        "error",
        "UPSTREAM_CREDITS",
        "second",
    )
    assert warnings(heard) == ["UPSTREAM_FALLBACK", "UPSTREAM_CREDITS"]


def test_a_forced_upstream_has_no_fallback(serve: Serve) -> None:
    """The client has chosen it."""
    two = serve([rejects(401)], [says("Never.")])
    heard = two.ask(model=f"first@{MODEL}", tools=[])
    assert (heard.done["code"], two.asked()) == ("UPSTREAM_AUTH", (1, 0))


def test_parameters_are_those_of_the_upstream_that_answers(serve: Serve) -> None:
    """`top_a` is OpenRouter's: only the second upstream gets it. The other way round, the client is warned."""
    two = serve([rejects(401)], [says("Hi.")])
    assert warnings(two.ask(tools=[], top_a=0.5)) == ["PARAM_DROPPED", "UPSTREAM_FALLBACK"]
    assert ("top_a" in two.first.asked[0].body, "top_a" in two.second.asked[0].body) == (False, True)


def test_a_parameter_that_the_next_upstream_lacks_is_warned_of(serve: Serve) -> None:
    """After the fallback, because the first one had it."""
    two = serve([says("Hi.")], [rejects(401)], file=FILE.replace('["first", "second"]', '["second", "first"]'))
    assert warnings(two.ask(tools=[], top_a=0.5)) == ["UPSTREAM_FALLBACK", "PARAM_DROPPED"]


def test_an_open_circuit_is_skipped(serve: Serve, no_waiting: list[Retry]) -> None:
    """Two runs with three failed attempts each open it; the third run does not call that upstream."""
    two = serve([rejects(503)], [says("Hi.")])
    for _ in range(2):
        two.ask(tools=[])
    asked, _ = two.asked()
    heard = two.ask(tools=[])
    assert two.asked()[0] == asked
    assert two.attempts(heard) == [("second", None)]
    assert fallback_warning(heard) == (
        'The upstream "first" has failed repeatedly, so the same model is called at "second".'
    )
    forced = two.ask(tools=[], model=f"first@{MODEL}")
    assert forced.done["code"] == "UPSTREAM_OVERLOADED"
    assert two.asked()[0] > asked, "a forced upstream is never skipped"


def everything_stored(folder: Path) -> bytes:
    """Return the content of all files of a data folder."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_no_key_is_seen_anywhere(serve: Serve, no_waiting: list[Retry], capfd, tmp_path: Path) -> None:
    """Both upstreams quote their key in errors; streams, traces, lists, logs and files contain none."""
    two: TwoUpstreams = serve([rejects(500, "Bad key")], [rejects(401, "Bad key")])
    heard = two.ask(tools=[])
    assert [one.headers["authorization"] for one in (two.first.asked[0], two.second.asked[0])] == [
        f"Bearer {FIRST_KEY}",
        f"Bearer {SECOND_KEY}",
    ]
    two.app.over(heard.events[0]["run_id"])
    seen = heard.raw + json.dumps(two.trace(heard)).encode()
    for path in ("/api/runs", "/api/models", "/health/ready"):
        seen += two.app.client.get(path).content
    seen += everything_stored(tmp_path / "data") + "".join(capfd.readouterr()).encode()
    assert b"Bad key" in seen
    for key in (FIRST_KEY, SECOND_KEY):
        assert key.encode() not in seen


async def quotes_headers(exchange: Exchange) -> None:
    """Reject a request with an error that quotes all its headers, as each dialect writes errors."""
    quoted = f"Bad headers: {json.dumps(exchange.asked.headers)}"
    error = {"type": "authentication_error", "code": 401, "status": "UNAUTHENTICATED", "message": quoted}
    await exchange.whole(401, json.dumps({"type": "error", "error": error}).encode())


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_dialect_shows_its_key(serve: Serve, dialect: str, capfd, tmp_path: Path) -> None:
    """The upstream got the key, and quotes it for models and questions; the key is nowhere to be seen."""
    file = FILE.replace('dialect = "openai-chat"', f'dialect = "{dialect}"', 1)
    two = serve([quotes_headers], [says("Hi.")], file=file, models=quotes_headers)
    heard = two.ask(tools=[])
    received = [*two.first.asked, *two.first.catalogues]
    assert all(FIRST_KEY in json.dumps(one.headers) for one in received)
    assert two.attempts(heard) == [("first", "UPSTREAM_AUTH"), ("second", None)]
    two.app.over(heard.events[0]["run_id"])
    seen = heard.raw + json.dumps(two.trace(heard)).encode() + two.app.client.get("/api/models").content
    seen += everything_stored(tmp_path / "data") + "".join(capfd.readouterr()).encode()
    assert FIRST_KEY.encode() not in seen
