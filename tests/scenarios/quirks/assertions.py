"""Checks that quirk tests share: executed calls, valid histories, and responses in unusual forms."""

import json
import re
from typing import Any

from tests.scenarios.quirks.sim_runs import Body, ObservedRun, calling, said_by
from tests.support.scripted_upstream import DONE, Exchange, Script, call_chunk, chunk

ASKED = "How does the tool loop of Signalbox work?"
SEARCH = ("search_web", {"query": "tool loop Signalbox work"})
CLOCK = ("get_current_time", {"timezone": "Asia/Tokyo"})
SEARCHES = tuple(("search_web", {"query": f"tool loop Signalbox work {at}"}) for at in (1, 2))
MARKS = re.compile(r"<\W?\w|｜|\[TOOL_CALLS\]|\[ARGS\]|tool_call|invoke")


def called(observed: ObservedRun) -> list[tuple[str, Any]]:
    """Return the announced calls, in order."""
    return [(call["name"], given) for call, given in zip(observed.heard.calls, observed.heard.arguments, strict=True)]


def ran(observed: ObservedRun, *calls: tuple[str, Any]) -> None:
    """Check that exactly these calls were announced, each succeeded once, and an answer followed."""
    assert called(observed) == list(calls)
    assert observed.heard.result_codes() == [None] * len(calls)
    executed = [event["id"] for event in observed.heard.of("tool_executing")]
    assert sorted(executed) == sorted(call["id"] for call in observed.heard.calls)
    answered(observed)
    assert sent_back(observed.last) == list(calls)


def answered(observed: ObservedRun) -> None:
    """Check that the run completed with text and without a warning."""
    assert observed.status == ("complete", None)
    assert observed.heard.warnings == []
    assert set(observed.statuses) == {200}
    last = max(at for at, kind in enumerate(observed.heard.types) if kind == "content")
    assert observed.heard.types[last:] == ["content", "done"]


def sent_back(body: Body) -> list[tuple[str, Any]]:
    """Return the calls of a request after checking them.

    Each call has a name, canonical JSON arguments, a unique id, and its result directly after it.
    """
    ids = [call["id"] for message in calling(body) for call in message["tool_calls"]]
    assert len(set(ids)) == len(ids), ids
    for at, message in enumerate(body["messages"]):
        made = [call["id"] for call in message.get("tool_calls") or []]
        following = body["messages"][at + 1 : at + 1 + len(made)]
        assert [said.get("tool_call_id") for said in following] == made
    assert len(said_by(body, "tool")) == len(ids)
    functions = [call["function"] for message in calling(body) for call in message["tool_calls"]]
    return [(function["name"], _canonical(function["arguments"])) for function in functions]


def _canonical(text: str) -> Any:
    value = json.loads(text)
    assert isinstance(value, dict)
    assert text == json.dumps(value, separators=(",", ":"), ensure_ascii=False), text
    return value


def results(body: Body) -> str:
    """Return the text of all tool results in a request."""
    return "\n".join(str(said["content"]) for said in said_by(body, "tool"))


def instructions(body: Body) -> str:
    """Return the text of all system messages in a request."""
    return "\n".join(str(said["content"]) for said in body["messages"] if said["role"] in ("system", "developer"))


def is_whole(exchange: Exchange) -> bool:
    """Return whether the request asks for one body instead of a stream."""
    return not exchange.asked.body["stream"]


def calls_with(
    name: str, arguments: str, *, finish: str = "tool_calls", before: Body | None = None, **fields: Any
) -> Script:
    """Call a tool, as a stream or one body as requested; `fields` are added beside the finish reason.

    `before` is a choice that a stream sends between the call and the finish reason.
    """
    ending = {"finish_reason": finish, **fields}

    async def script(exchange: Exchange) -> None:
        if is_whole(exchange):
            await exchange.whole(200, body_of({"tool_calls": [_call(name, arguments)]}, **ending))
            return
        await exchange.head()
        last = chunk({}, choices=[{"index": 0, "delta": {}, **ending}])
        between = chunk({}, choices=[before]) if before else b""
        await exchange.send(call_chunk(name, arguments) + between + last + DONE)
        await exchange.raw(b"0\r\n\r\n")

    return script


def speaks(text: str) -> Script:
    """Answer with text, as a stream or one body as requested."""

    async def script(exchange: Exchange) -> None:
        if is_whole(exchange):
            await exchange.whole(200, body_of({"content": text}))
            return
        await exchange.head()
        await exchange.send_text(text)
        await exchange.end()

    return script


def body_of(message: Body, **ending: Any) -> bytes:
    """Return a complete response body."""
    said = {"role": "assistant", "content": None, **message}
    choice = {"index": 0, "message": said, "finish_reason": "stop", **ending}
    answer = {"id": "gen-scripted", "provider": "Scripted", "model": "openai/sim", "choices": [choice]}
    return json.dumps(answer).encode()


def _call(name: str, arguments: str) -> Body:
    return {"index": 0, "id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}
