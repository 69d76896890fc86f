"""A run as a stream of OpenAI's chunks."""

import json
from typing import Any

from signalbox.core.events import (
    AnyEvent,
    ArgumentsDelta,
    Call,
    Content,
    Done,
    Image,
    Reasoning,
    Source,
    Stamped,
    Success,
    ToolCalls,
    ToolExecuting,
    ToolResult,
    UsageTotals,
    Warning,
)
from signalbox.core.records import RunRecord
from signalbox.encoders.chat_completions import ChatCompletionsEncoder

RUN = "0" * 32
USAGE = UsageTotals(input=12, output=5, reasoning=2, cached=3)
DONE = Done(True, "complete", usage=USAGE, cost=0.001, provider="OpenAI")
SEARCH = Call("s00000001", "search_web", '{"query":"x"}', "search", "primary")
PRICE = Call("c00000001", "price", '{"item":"screw"}', "other", "secondary")
HITS = Success(
    True, {"results": [{"n": 1, "url": "https://a.example", "title": "A"}, {"n": 2, "url": "u", "title": "B"}]}
)
FOUND = ToolResult(SEARCH.id, "search_web", HITS, "search", "primary")


def stamped(*events: AnyEvent) -> list[Stamped]:
    """Number events."""
    return [Stamped(seq, 1_790_000_000_000 + seq, event) for seq, event in enumerate(events, 1)]


def record(**echo: Any) -> RunRecord:
    """Return a run's record with these wishes of its client."""
    return RunRecord(RUN, "openai/sim", "v2", started=1_790_000_000.5, echo=echo)


def text_of(*events: AnyEvent, **echo: Any) -> str:
    """Encode events in one batch."""
    return ChatCompletionsEncoder(record(**echo)).encode(stamped(*events)).decode()


def chunks(*events: AnyEvent, **echo: Any) -> list[dict[str, Any]]:
    """Encode events; return the data of all frames but `[DONE]`, which must be the last one of an ended run."""
    frames = [frame for frame in text_of(*events, **echo).split("\n\n") if frame.startswith("data: ")]
    if isinstance(events[-1], Done):
        assert frames.pop() == "data: [DONE]"
    return [json.loads(frame.removeprefix("data: ")) for frame in frames]


def deltas(*events: AnyEvent, **echo: Any) -> list[dict[str, Any]]:
    """Encode events; return the deltas of the chunks that have one."""
    return [chunk["choices"][0]["delta"] for chunk in chunks(*events, **echo) if chunk["choices"]]


def test_text_ends_with_stop_and_usage() -> None:
    """The first chunk has the role; the last one has the finish reason and, unasked, the usage."""
    first, *text, last = chunks(Content("Hel"), Content("lo"), DONE)
    head = {"id": RUN, "object": "chat.completion.chunk", "created": 1_790_000_000, "model": "openai/sim"}
    for chunk in (first, *text, last):
        assert chunk.items() >= head.items()
    assert first["choices"] == [
        {"index": 0, "delta": {"role": "assistant", "content": ""}, "logprobs": None, "finish_reason": None}
    ]
    assert [chunk["choices"][0]["delta"] for chunk in text] == [{"content": "Hel"}, {"content": "lo"}]
    assert last["choices"] == [{"index": 0, "delta": {}, "logprobs": None, "finish_reason": "stop"}]
    assert last["provider"] == "OpenAI"
    assert last["usage"] == {
        "prompt_tokens": 12,
        "completion_tokens": 5,
        "total_tokens": 17,
        "prompt_tokens_details": {"cached_tokens": 3},
        "completion_tokens_details": {"reasoning_tokens": 2},
        "cost": 0.001,
    }


def test_include_usage_adds_a_chunk_without_choices() -> None:
    """`stream_options.include_usage` moves the usage into an extra chunk."""
    *_, finish, usage = chunks(Content("a"), DONE, include_usage=True)
    assert "usage" not in finish
    assert (usage["choices"], usage["usage"]["total_tokens"]) == ([], 17)


def test_reasoning_has_all_three_names() -> None:
    """OpenRouter's clients read `reasoning` and its details, those of DeepSeek and vLLM `reasoning_content`."""
    first, _ = chunks(Reasoning("Hm.", 1), Reasoning("", 1, hidden=True), Content("a"))[:2]
    assert first["choices"][0]["delta"] == {
        "role": "assistant",
        "reasoning": "Hm.",
        "reasoning_content": "Hm.",
        "reasoning_details": [{"type": "reasoning.text", "text": "Hm.", "format": "unknown", "index": 0}],
    }


def test_text_of_every_kind_is_escaped() -> None:
    """Quotes, line breaks and percent signs arrive as the model wrote them, in the first piece and in the next."""
    odd = 'a "%b" %d \n\u2028\x00 \\'
    reasoning = [delta["reasoning"] for delta in deltas(Reasoning(odd, 1), Reasoning(odd, 1))]
    content = [delta["content"] for delta in deltas(Content(odd), Content(odd))]
    pieces = deltas(ArgumentsDelta("a", "price", odd, 1), ArgumentsDelta("a", "price", odd, 1))
    arguments = [delta["tool_calls"][0]["function"]["arguments"] for delta in pieces]
    assert (reasoning, content, arguments) == ([odd, odd], ["", odd, odd], [odd, odd])


def test_calls_of_our_tools_are_comments() -> None:
    """A client must not execute them, so they are no `tool_calls`; the connection stays busy meanwhile."""
    events = (ToolCalls([SEARCH], 1), ToolExecuting(SEARCH.id, "search_web", "search", "primary", 1), FOUND)
    assert text_of(*events) == ": tool_call search_web\n\n: tool_executing search_web\n\n: tool_result search_web\n\n"


def test_a_handed_call_comes_whole() -> None:
    """Without streamed arguments the client's call comes at the end, under an id that names the run."""
    *_, call, finish = chunks(ToolCalls([SEARCH, PRICE], 1), FOUND, Done(True, "complete", handed=[PRICE.id]))
    assert call["choices"][0]["delta"]["tool_calls"] == [
        {
            "index": 0,
            "id": f"call_{RUN}_{PRICE.id}",
            "type": "function",
            "function": {"name": "price", "arguments": '{"item":"screw"}'},
        }
    ]
    assert finish["choices"][0]["finish_reason"] == "tool_calls"


def test_streamed_arguments_are_numbered_by_call() -> None:
    """The first piece of a call has its id and name, the others only text; a call that was streamed is not repeated."""
    pieces = [
        ArgumentsDelta(PRICE.id, "price", '{"item":', 1),
        ArgumentsDelta("c00000002", "stock", "{", 1),
        ArgumentsDelta(PRICE.id, "price", '"screw"}', 1),
        ArgumentsDelta("c00000002", "stock", "}", 1),
    ]
    stock = Call("c00000002", "stock", "{}", "other", "secondary")
    done = Done(True, "complete", handed=[PRICE.id, stock.id])
    calls = [one["tool_calls"][0] for one in deltas(*pieces, ToolCalls([PRICE, stock], 1), done) if "tool_calls" in one]
    assert [(call["index"], call.get("id"), call["function"]) for call in calls] == [
        (0, f"call_{RUN}_{PRICE.id}", {"name": "price", "arguments": '{"item":'}),
        (1, f"call_{RUN}_{stock.id}", {"name": "stock", "arguments": "{"}),
        (0, None, {"arguments": '"screw"}'}),
        (1, None, {"arguments": "}"}),
    ]


def test_sources_of_the_provider_are_annotations() -> None:
    """Offsets count from the start of the whole text: a step's own offsets are shifted by the text before it."""
    source = Source(1, "https://b.example", "B", "snippet", 2, 4)
    events = (Content("abc"), ToolCalls([SEARCH], 1), FOUND, Content("\n\n"), Content("defg"))
    [annotated] = [
        one["annotations"] for one in deltas(*events, Content("", sources=[source], step=2)) if "annotations" in one
    ]
    assert annotated == [
        {
            "type": "url_citation",
            "url_citation": {
                "url": "https://b.example", "title": "B", "start_index": 7, "end_index": 9, "content": "snippet",
            },
        }
    ]  # fmt: skip


def test_cited_results_of_a_search_are_annotations() -> None:
    """A marker that two pieces share is found, each source is named once, and what is not cited is not named."""
    events = (ToolCalls([SEARCH], 1), FOUND, Content("So [9] it is "), Content("[1"), Content("] and [1]."), DONE)
    [annotated] = [one["annotations"] for one in deltas(*events) if "annotations" in one]
    assert annotated == [
        {
            "type": "url_citation",
            "url_citation": {"url": "https://a.example", "title": "A", "start_index": 13, "end_index": 16},
        }
    ]


def test_refusals_and_images_have_their_fields() -> None:
    """A refusal is no content, and an image has OpenRouter's shape."""
    image = Image("data:image/png;base64,QQ==")
    sent = deltas(Content("a"), Content("No.", refusal=True), Content("", images=[image]))
    assert {"refusal": "No."} in sent
    assert {"content": "", "images": [{"type": "image_url", "image_url": {"url": image.url}}]} in sent


def test_a_failed_run_ends_with_openrouters_error() -> None:
    """The error is at the top of the last chunk, the finish reason is `error`, and the usage so far is there."""
    failed = Done(True, "interrupted", error="It broke off.", code="STREAM_CUT", retryable=True, usage=USAGE)
    last = chunks(Content("a"), Warning("It broke off.", "STREAM_CUT"), failed)[-1]
    assert last["error"] == {
        "message": "It broke off. The text received so far is saved; try again.",
        "type": "server_error",
        "param": None,
        "code": 502,
        "metadata": {"error_type": "provider_unavailable", "code": "stream_cut"},
    }
    assert last["choices"][0]["finish_reason"] == "error"
    assert last["usage"]["completion_tokens"] == 5


def test_the_finish_reason_of_every_status() -> None:
    """An answer that reached a limit is `length`, also a cost limit or a budget; a stopped one is `stop`."""
    ends = {
        "length": Done(True, "length", code="LENGTH"),
        "content_filter": Done(True, "content_filter", code="CONTENT_FILTER"),
        "cancelled": Done(True, "cancelled"),
        "cost": Done(True, "interrupted", code="BUDGET_REACHED"),
        "budget": Done(True, "interrupted", code="BUDGET_EXHAUSTED"),
    }
    reasons = {name: chunks(Content("a"), done)[-1]["choices"][0]["finish_reason"] for name, done in ends.items()}
    assert reasons == {
        **dict.fromkeys(("length", "cost", "budget"), "length"),
        "content_filter": "content_filter",
        "cancelled": "stop",
    }


def test_an_answer_that_is_not_complete_says_so() -> None:
    """OpenAI has no word for a stopped answer; OpenRouter's second reason tells it from a complete one."""
    stopped = chunks(Content("a"), Done(True, "cancelled"))[-1]["choices"][0]
    assert (stopped["finish_reason"], stopped["native_finish_reason"]) == ("stop", "cancelled")
    assert "native_finish_reason" not in chunks(Content("a"), DONE)[-1]["choices"][0]


def test_warnings_are_in_the_last_choice_s_chunk() -> None:
    """Clients drop comments, so the warnings are also where a client can read them."""
    last = chunks(Content("a"), Warning("Not sent: top_a.", "PARAM_DROPPED"), DONE)[-1]
    assert last["warnings"] == [{"code": "PARAM_DROPPED", "message": "Not sent: top_a."}]


def test_the_same_run_is_the_same_bytes() -> None:
    """However a run's events are cut into batches, their bytes are the same."""
    events = stamped(Reasoning("Hm.", 1), Content("a"), ToolCalls([SEARCH], 1), FOUND, Content("b [1]"), DONE)
    whole = ChatCompletionsEncoder(record()).encode(events)
    encoder = ChatCompletionsEncoder(record())
    assert b"".join(encoder.encode([one]) for one in events) == whole


def test_a_name_cannot_end_its_comment() -> None:
    """A line break in a tool's name would begin a frame."""
    odd = Call("x", "a\n\ndata: b", "{}", "other", "secondary")
    assert text_of(ToolCalls([odd], 1)) == ": tool_call adata: b\n\n"
