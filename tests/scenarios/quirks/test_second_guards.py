"""Rules that `just mutate` found untested, mostly because a second rule hides their absence."""

import json
from importlib.metadata import EntryPoint

import pytest
from signalbox.chat.calls.execution import ToolExecution
from signalbox.chat.loops.retry import Retry
from signalbox.tools import registry

from tests.scenarios.quirks.assertions import body_of, called, calls_with, results, speaks
from tests.scenarios.quirks.sim_runs import scripted, user
from tests.support.fakes import make_tool
from tests.support.fixtures import StartApp
from tests.support.scripted_upstream import DONE, Exchange, Script, chunk, says, sends

LOOPS = pytest.mark.parametrize("loop", ["v2", "legacy"])
HEADER = {"signalbox_allow_loop_header": True}


def _whole(body: bytes) -> Script:
    """Answer every request with this body."""

    async def script(exchange: Exchange) -> None:
        await exchange.whole(200, body)

    return script


def test_a02_an_index_that_comes_with_the_id_again(start_app: StartApp) -> None:
    """A call that began without an index stays one call if its id returns with an index."""
    begin = {"id": "call_1", "type": "function", "function": {"name": "bell", "arguments": ""}}
    rest = {"index": 0, "id": "call_1", "function": {"arguments": '{"n":1}'}}
    frames = chunk({"tool_calls": [begin]}) + chunk({"tool_calls": [rest]}) + chunk({}, finish="tool_calls") + DONE
    app, upstream = start_app(sends(frames), says("Done."), extra_tools=[make_tool("bell")], settings=HEADER)
    observed = scripted(app, upstream.asked, "v2", tools=["bell"])
    assert called(observed) == [("bell", {"n": 1})]
    assert observed.heard.result_codes() == [None]


def test_a12_an_empty_finish_reason_behind_one(start_app: StartApp) -> None:
    """A chunk with only the provider's native reason does not erase the finish reason."""
    late = chunk({}, choices=[{"index": 0, "delta": {}, "finish_reason": None, "native_finish_reason": "STOP"}])
    app, upstream = start_app(sends(chunk({"content": "Hello."}, finish="stop") + late), settings=HEADER)
    assert scripted(app, upstream.asked, "v2").status == ("complete", None)


def test_a13_nothing_of_a_malformed_whole_answer_is_shown(start_app: StartApp) -> None:
    """Text beside a malformed call in a complete body is not shown."""
    malformed = body_of({"content": "print(default_api.bell("}, native_finish_reason="MALFORMED_FUNCTION_CALL")
    app, upstream = start_app(_whole(malformed), speaks("Done."), extra_tools=[make_tool("bell")], settings=HEADER)
    observed = scripted(app, upstream.asked, "legacy", tools=["bell"])
    assert (observed.status, observed.heard.text) == (("complete", None), "Done.")


def test_b12_several_seals_in_one_step_are_told_once(start_app: StartApp) -> None:
    """Encrypted reasoning in several pieces emits one hidden-reasoning event."""
    seals = [{"type": "reasoning.encrypted", "data": f"sealed {at}", "index": at} for at in range(3)]
    pieces = b"".join(chunk({"reasoning_details": [seal]}) for seal in seals)
    app, upstream = start_app(sends(pieces + chunk({"content": "Hello."}, finish="stop") + DONE), settings=HEADER)
    hidden = scripted(app, upstream.asked, "v2").heard.of("reasoning")
    assert [(event["content"], event["hidden"]) for event in hidden] == [("", True)]


@pytest.mark.parametrize("word", ["pattern", "minLength", "additionalProperties", "anyOf"])
def test_c10_a_tool_with_a_word_that_some_host_refuses_is_not_offered(
    monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    """A plugin tool with an unportable schema keyword is unavailable with a reason."""
    values = {"pattern": "^a", "minLength": 1, "additionalProperties": False, "anyOf": [{"type": "string"}]}
    inner = {"type": "object", "properties": {}, word: values[word]}
    tool = make_tool("bell", parameters={"type": "object", "properties": {"how": {"type": "array", "items": inner}}})
    monkeypatch.setattr(registry, "a_tool_of_a_test", lambda: tool, raising=False)
    entry = EntryPoint("bell", "signalbox.tools.registry:a_tool_of_a_test", "signalbox.tools")
    [found] = registry.from_packages((), [entry])
    assert found.unavailable is not None
    assert f"parameters.how.items uses {word}" in found.unavailable


@LOOPS
def test_e08_a_loop_that_breaks_behind_a_call(start_app: StartApp, monkeypatch: pytest.MonkeyPatch, loop: str) -> None:
    """An exception with an open call gives the call a result, a warning and one `done`."""

    async def breaks(execution: ToolExecution) -> None:
        raise RuntimeError("broken on purpose")

    monkeypatch.setattr(ToolExecution, "wait_for_results", breaks)
    tool = make_tool("bell")
    app, upstream = start_app(calls_with("bell", "{}"), speaks("Never said."), extra_tools=[tool], settings=HEADER)
    observed = scripted(app, upstream.asked, loop, tools=["bell"])
    assert observed.status == ("error", "INTERNAL")
    assert observed.heard.result_codes() == ["STEP_FAILED"]
    assert observed.heard.types[-2:] == ["warning", "done"]
    assert b"on purpose" not in observed.heard.raw


@LOOPS
def test_e08_the_model_reads_which_tool_broke(start_app: StartApp, loop: str) -> None:
    """A tool's exception gives a result with the tool's name and a hint, without its text."""

    def breaks(*given: object) -> None:
        raise RuntimeError("broken on purpose")

    app, upstream = start_app(
        calls_with("bell", "{}"), speaks("Then without."), extra_tools=[make_tool("bell", breaks)], settings=HEADER
    )
    observed = scripted(app, upstream.asked, loop, tools=["bell"])
    assert observed.status == ("complete", None)
    assert "bell failed; answer without it" in results(observed.last)
    assert "on purpose" not in results(observed.last)


@LOOPS
@pytest.mark.parametrize("secret", ["user_2aBcDeFgHiJk", "sk-or-v1-somebody-elses-key", "Bearer abc.def.ghi"])
def test_g04_ids_and_keys_of_others_are_taken_out_of_an_upstreams_words(
    start_app: StartApp, loop: str, secret: str
) -> None:
    """The provider's message is shown without anything that looks like an account or a key."""
    error = {"code": 400, "message": f"Refused for {secret} since the colour is wrong."}

    async def refuses(exchange: Exchange) -> None:
        await exchange.whole(400, json.dumps({"error": error}).encode())

    app, upstream = start_app(refuses, settings=HEADER)
    observed = scripted(app, upstream.asked, loop)
    assert "since the colour is wrong" in observed.heard.done["error"]
    assert secret not in observed.heard.raw.decode()
    assert secret not in json.dumps(observed.trace(app))


@pytest.mark.parametrize("content", [" \n", [{"type": "text", "text": " "}]], ids=["text", "parts"])
def test_c04_a_blank_question_is_refused_here(start_app: StartApp, content: object) -> None:
    """A blank question is rejected with the message's position."""
    app, upstream = start_app(says("Hello."))
    response = app.post(messages=[user(content)])
    assert (response.status_code, response.json()["error"]["field"]) == (422, "messages.0.content")
    assert upstream.asked == []


def test_e02_a_whole_body_that_ends_before_its_object(start_app: StartApp, no_waiting: list[Retry]) -> None:
    """A body that ends cleanly in the middle of its JSON counts as cut."""
    cut = body_of({"content": "Hello, this is the answer."})[:-60]
    app, upstream = start_app(_whole(cut), extra_tools=[make_tool("bell")], settings=HEADER)
    observed = scripted(app, upstream.asked, "legacy", tools=["bell"])
    assert observed.status == ("interrupted", "STREAM_CUT")


def test_f02_no_degradation_after_visible_text(start_app: StartApp) -> None:
    """If credits run out after visible text, the error is reported without a retry."""
    error = {"code": 402, "message": "This request requires more credits, but can only afford 900."}
    app, upstream = start_app(sends(chunk({"content": "So "}) + chunk({}, error=error) + DONE), settings=HEADER)
    observed = scripted(app, upstream.asked, "v2", max_tokens=2000)
    assert observed.status == ("error", "UPSTREAM_CREDITS")
    assert (observed.heard.text, len(observed.requests)) == ("So ", 1)
