"""A run as one chat completion, and errors in OpenAI's shape."""

import json
from typing import Any

import pytest
from signalbox.core.codes import CODES, Code
from signalbox.core.errors import RequestError
from signalbox.core.events import (
    AnyEvent,
    Call,
    Content,
    Done,
    Reasoning,
    Stamped,
    Success,
    ToolCalls,
    ToolResult,
    Warning,
)
from signalbox.core.records import RunRecord
from signalbox.encoders.chat_completions_error import error_of, openrouter_error_of
from signalbox.encoders.chat_completions_whole import ChatCompletion

RUN = "0" * 32
PRICE = Call("c00000001", "price", '{"item":"screw"}', "other", "secondary")
SEARCH = Call("s00000001", "search_web", "{}", "search", "primary")
FOUND = ToolResult(
    SEARCH.id, "search_web", Success(True, {"results": [{"n": 1, "url": "u", "title": "A"}]}), "search", "primary"
)


def answer(*events: AnyEvent) -> tuple[int, dict[str, Any]]:
    """Encode a run in two batches."""
    encoder = ChatCompletion(RunRecord(RUN, "openai/sim", "v2", started=1_790_000_000.5))
    stamped = [Stamped(seq, 0, event) for seq, event in enumerate(events, 1)]
    encoder.feed(stamped[:1])
    encoder.feed(stamped[1:])
    status, body = encoder.answer()
    return status, json.loads(body)


def test_an_answer_is_one_message() -> None:
    """Text, reasoning under its three names, cited sources, and the reason why it ended."""
    events = (Reasoning("Hm."), ToolCalls([SEARCH], 1), FOUND, Content("So "), Content("it is [1]."))
    status, body = answer(*events, Done(True, "complete"))
    assert (status, body["id"], body["object"], body["created"]) == (200, RUN, "chat.completion", 1_790_000_000)
    [choice] = body["choices"]
    assert (choice["index"], choice["finish_reason"]) == (0, "stop")
    assert choice["message"] == {
        "role": "assistant",
        "content": "So it is [1].",
        "refusal": None,
        "reasoning": "Hm.",
        "reasoning_content": "Hm.",
        "reasoning_details": [{"type": "reasoning.text", "text": "Hm.", "format": "unknown", "index": 0}],
        "annotations": [
            {"type": "url_citation", "url_citation": {"url": "u", "title": "A", "start_index": 9, "end_index": 12}}
        ],
    }
    assert "usage" not in body


def test_a_handed_call_is_a_tool_call() -> None:
    """Our own calls are not listed, and content without text is null."""
    status, body = answer(ToolCalls([SEARCH, PRICE]), FOUND, Done(True, "complete", handed=[PRICE.id]))
    [choice] = body["choices"]
    assert (status, choice["finish_reason"], choice["message"]["content"]) == (200, "tool_calls", None)
    assert choice["message"]["tool_calls"] == [
        {
            "id": f"call_{RUN}_{PRICE.id}",
            "type": "function",
            "function": {"name": "price", "arguments": '{"item":"screw"}'},
        }
    ]


@pytest.mark.parametrize(
    ("code", "status", "name"),
    [
        ("CONTEXT_LENGTH_EXCEEDED", 400, "context_length_exceeded"),
        ("UPSTREAM_NOT_FOUND", 404, "model_not_found"),
        ("UPSTREAM_CREDITS", 429, "insufficient_quota"),
        ("RATE_LIMIT", 429, "rate_limit_exceeded"),
        ("UPSTREAM_OVERLOADED", 503, "overloaded"),
        ("STREAM_CUT", 502, "stream_cut"),
        ("UPSTREAM_AUTH", 502, "upstream_auth"),
    ],
)
def test_a_failed_run_is_an_error(code: str, status: int, name: str) -> None:
    """A client sees OpenAI's status and code, and what to do."""
    got, body = answer(Content("a"), Done(True, "error", error="It failed.", code=code))
    assert (got, body["error"]["code"]) == (status, name)
    assert body["error"]["message"].endswith(f"It failed. {CODES[Code(code)].todo}")


def test_a_conversation_that_is_too_long_has_a_known_sentence() -> None:
    """LiteLLM recognizes the error by it; the upstream's words become a sentence."""
    _, body = answer(Done(True, "error", error="It said: too long", code="CONTEXT_LENGTH_EXCEEDED"))
    assert body["error"]["message"].startswith("The request exceeds the available context size. It said: too long. ")


def test_openrouters_errors_have_a_number_as_code() -> None:
    """OpenRouter's SDK accepts nothing else there; OpenAI's code is in the metadata."""
    status, body = openrouter_error_of(RequestError(Code.UNKNOWN_MODEL, field="model"))
    error = json.loads(body)["error"]
    assert (status, error["code"], error["param"]) == (404, 404, "model")
    assert error["metadata"] == {"error_type": "not_found", "code": "model_not_found"}


def test_a_withheld_answer() -> None:
    """Nothing to show is an error; a part of an answer is shown, with the reason why it ends."""
    withheld = Done(True, "content_filter", error="Withheld.", code="CONTENT_FILTER")
    status, body = answer(Reasoning("Hm."), withheld)
    assert (status, body["error"]["code"]) == (400, "content_filter")
    status, body = answer(Content("a"), withheld)
    assert (status, body["choices"][0]["finish_reason"]) == (200, "content_filter")


def test_a_refusal_is_an_answer() -> None:
    """The words of the refusal are shown, as in a stream."""
    withheld = Done(True, "content_filter", error="Withheld.", code="CONTENT_FILTER")
    status, body = answer(Content("I cannot.", refusal=True), withheld)
    [choice] = body["choices"]
    assert (status, choice["message"]["refusal"], choice["message"]["content"]) == (200, "I cannot.", None)
    assert (choice["finish_reason"], choice["native_finish_reason"]) == ("content_filter", "content_filter")


def test_warnings_are_in_the_answer() -> None:
    """Nothing that was changed is hidden."""
    _, body = answer(Warning("Not sent: top_a.", "PARAM_DROPPED"), Content("a"), Done(True, "complete"))
    assert body["warnings"] == [{"code": "PARAM_DROPPED", "message": "Not sent: top_a."}]


def test_events_without_an_end() -> None:
    """A run that another worker took over has no end here."""
    status, body = answer(Content("a"))
    assert (status, body["error"]["type"]) == (500, "server_error")


@pytest.mark.parametrize(
    ("error", "status", "shape"),
    [
        (RequestError(Code.INVALID_REQUEST, "n: is 2.", "n"), 400, ("invalid_request_error", "n", None)),
        (RequestError(Code.UNAUTHORIZED), 401, ("invalid_request_error", None, "invalid_api_key")),
        (RequestError(Code.UNKNOWN_MODEL, field="model"), 404, ("invalid_request_error", "model", "model_not_found")),
        (RequestError(Code.TOO_MANY_QUESTIONS), 429, ("requests", None, "rate_limit_exceeded")),
        (RequestError(Code.TOO_MANY_RUNS), 503, ("server_error", None, "too_many_runs")),
        (RequestError(Code.BODY_TOO_LARGE), 413, ("invalid_request_error", None, "body_too_large")),
        (RequestError(Code.METHOD_NOT_ALLOWED), 405, ("invalid_request_error", None, "method_not_allowed")),
    ],
)
def test_a_rejected_request(error: RequestError, status: int, shape: tuple[str, str | None, str | None]) -> None:
    """`type`, `param` and `code` are those that OpenAI's clients know."""
    got, body = error_of(error)
    sent = json.loads(body)["error"]
    assert (got, (sent["type"], sent["param"], sent["code"])) == (status, shape)
    assert sent["message"].startswith(error.message)


def test_every_code_has_a_status() -> None:
    """No code of ours becomes a success or an unknown status."""
    for code in Code:
        status, body = error_of(RequestError(code, field="f"))
        assert 400 <= status < 600, code
        assert json.loads(body)["error"]["type"], code
