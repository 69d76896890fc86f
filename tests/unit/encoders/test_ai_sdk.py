"""A run as a message of the AI SDK."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec import json as msgspec_json
from signalbox.core.bounds.run_limits import COST_LIMITS
from signalbox.core.codes import CODES, Code
from signalbox.core.events import (
    AnyEvent,
    Call,
    Content,
    Done,
    Failure,
    Image,
    Reasoning,
    Source,
    Stamped,
    Success,
    ToolCalls,
    ToolResult,
    Warning,
)
from signalbox.core.handed_calls import handed_id
from signalbox.core.messages import JsonObject, ToolMessage
from signalbox.core.records import RunRecord
from signalbox.encoders.ai_sdk import AiSdkEncoder, outputs_of
from signalbox.encoders.encoder import ResumedEncoder
from signalbox.encoders.v1_whole import WholeV1

from tests.support.run_events import CLIENT_TOOL, OUR_TOOL, RUN, all_endings, object_in, random_run, stamped
from tests.support.ui_message import UiMessageReader, chunks_in

ECHO: JsonObject = {"client_tools": [CLIENT_TOOL]}
RECORD = RunRecord(RUN, "openai/sim", "v2", echo=ECHO)
DONE = Done(True, "complete")
ENDINGS = all_endings()
_decoded = msgspec_json.Decoder(list[Stamped])


def stream_of(events: list[Stamped], record: RunRecord = RECORD) -> bytes:
    """Encode a run in one batch."""
    return AiSdkEncoder(record).encode(events)


def message_of(*events: AnyEvent) -> UiMessageReader:
    """Return the message of a run."""
    return UiMessageReader().read_stream(stream_of(stamped(*events)))


@pytest.mark.parametrize("name", ENDINGS)
def test_every_ending_is_read(name: str) -> None:
    """Parts and steps are closed, and a failure says what happened and what to do."""
    events = ENDINGS[name]
    done = events[-1].event
    assert isinstance(done, Done)
    message = UiMessageReader().read_stream(stream_of(events))
    assert message.metadata[RUN]["status"] == done.status
    assert message.is_aborted == (done.status == "cancelled")
    is_error = done.status in ("error", "interrupted", "content_filter") and done.code not in COST_LIMITS
    code = Code(done.code) if done.code is not UNSET else None
    assert message.error == (f"{done.error} {CODES[code].todo}" if is_error and code else None)
    handed = [part for part in message.tools if part["state"] == "input-available"]
    assert len(handed) == len(done.handed or ())
    assert not any(part["providerExecuted"] for part in handed)
    others = [part for part in message.tools if part not in handed]
    assert all(part["providerExecuted"] for part in others), "the client would post its chat again"


@given(st.integers(0, 100_000))
def test_the_client_has_what_v1_has(seed: int) -> None:
    """The same text, reasoning, calls, results, images and warnings."""
    events = random_run(seed)
    whole = WholeV1(RECORD)
    whole.feed(events)
    expected = json.loads(whole.answer()[1])
    message = UiMessageReader().read_stream(stream_of(events))
    assert message.text_of("text") == expected["text"]
    # Two steps are two parts here; v1.1 has an empty line between them.
    assert message.text_of("reasoning").replace("\n", "") == expected["reasoning"].replace("\n", "")
    calls = {part["toolCallId"]: part for part in message.tools if not part["toolCallId"].startswith("lost")}
    assert [*calls] == [*dict.fromkeys(calls)]
    for call in expected["calls"]:
        name = call["name"]
        part = calls.pop(handed_id(RUN, call["id"]) if name == CLIENT_TOOL else call["id"])
        assert (part["toolName"], part["input"]) == (name, object_in(call["arguments"]) or call["arguments"])
        assert part["type"] == (f"tool-{name}" if name == CLIENT_TOOL else "dynamic-tool")
        assert part["text"] in ("", call["arguments"])
        match call.get("result"):
            case None:
                assert part["state"] == "input-available"
            case {"success": True, "result": result}:
                assert (part["state"], part["output"]) == ("output-available", result)
            case failure:
                assert (part["state"], part["errorText"]) == ("output-error", failure["error"])
    assert not calls
    warnings = [part["data"]["message"] for part in message.parts if part["type"] == "data-warning"]
    assert warnings == [warning["message"] for warning in expected["warnings"]]
    assert sum(part["type"] == "file" for part in message.parts) == len(expected["images"])
    sources = {part["sourceId"] for part in message.parts if part["type"] == "source-url"}
    assert sources == {str(source["n"]) for source in expected["sources"]}


@given(st.integers(0, 100_000), st.integers(0, 60))
def test_a_stream_is_the_same_however_it_is_read(seed: int, after: int) -> None:
    """In batches of any size, from the disk, and behind any event."""
    events = random_run(seed)
    whole = stream_of(events)
    encoder = AiSdkEncoder(RECORD)
    assert b"".join(encoder.encode([one]) for one in events) == whole
    stored = _decoded.decode(msgspec_json.encode(events))
    assert stream_of(stored) == whole
    first, rest = AiSdkEncoder(RECORD), ResumedEncoder(AiSdkEncoder(RECORD), after)
    assert first.encode(events[:after]) + rest.encode(events) == whole


def test_texts_of_every_kind_are_escaped() -> None:
    """Quotes, line breaks and percent signs arrive as the model wrote them, in the first piece and in the next."""
    odd = 'a "%b" %d \n\u2028\x00 \\'
    message = message_of(Reasoning(odd, 1), Reasoning(odd, 1), Content(odd), Content(odd), DONE)
    assert (message.text_of("reasoning"), message.text_of("text")) == (odd * 2, odd * 2)


def test_each_step_has_its_parts() -> None:
    """Reasoning and text behind the calls belong to the next step."""
    call = Call("c1", OUR_TOOL, "{}", "search", "primary")
    result = ToolResult("c1", OUR_TOOL, Success(True, {}), "search", "primary", step=1)
    events = (Reasoning("A", 1), Content("One."), ToolCalls([call], 1), result, Content("\n\n"), Content("Two."), DONE)
    kinds = [part["type"] for part in message_of(*events).parts]
    assert kinds == ["step-start", "reasoning", "text", "dynamic-tool", "step-start", "text"]


def test_only_cited_results_are_sources() -> None:
    """A search finds more pages than the answer uses; their numbers are those in the text."""
    hits = [{"n": n, "url": f"https://{n}.example", "title": f"T{n}"} for n in (1, 2)]
    call = Call("c1", OUR_TOOL, "{}", "search", "primary")
    result = ToolResult("c1", OUR_TOOL, Success(True, {"results": hits}), "search", "primary", step=1)
    cited = Content("", sources=[Source(3, "https://3.example", "T3")], step=2)
    message = message_of(ToolCalls([call], 1), result, Content("See [2"), Content("]."), cited, cited, DONE)
    sources = [(part["sourceId"], part["url"]) for part in message.parts if part["type"] == "source-url"]
    assert sources == [("3", "https://3.example"), ("2", "https://2.example")]


def test_an_artifact_is_the_output() -> None:
    """The page shows what is for people; the model has got the result."""
    call = Call("c1", "search_products", "{}", "search", "primary")
    result = ToolResult("c1", call.name, Success(True, "short"), "search", "primary", artifact={"columns": []})
    assert message_of(ToolCalls([call], 1), result, Content("a"), DONE).tools[0]["output"] == {"columns": []}


def test_images_are_files() -> None:
    """A data URL has its own type; of another one, nothing more is known than that it is an image."""
    images = [Image("data:image/webp;base64,AAAA"), Image("https://a.example/b")]
    parts = [part for part in message_of(Content("", images=images), DONE).parts if part["type"] == "file"]
    assert [part["mediaType"] for part in parts] == ["image/webp", "image/*"]


def test_broken_arguments_are_shown_as_text() -> None:
    """The model sent no JSON, and the result says so."""
    call = Call("c1", OUR_TOOL, '{"q": [', "search", "primary")
    failed = ToolResult("c1", OUR_TOOL, Failure(False, "No JSON.", "INVALID_ARGUMENTS"), "search", "primary")
    [part] = message_of(ToolCalls([call], 1), failed, Content("Sorry."), DONE).tools
    assert (part["input"], part["errorText"]) == ('{"q": [', "No JSON.")


def test_the_legs_of_an_answer_are_one_message() -> None:
    """A run that hands calls over, their outputs, and the run that goes on."""
    call = Call("h1", CLIENT_TOOL, "{}", "other", "secondary")
    first = stamped(Content("One."), ToolCalls([call], 1), Done(True, "complete", handed=["h1"]))
    echo: dict[str, Any] = {**ECHO, "message_id": RUN}
    second = RunRecord("f" * 32, "openai/sim", "v2", echo=echo)
    outputs = outputs_of(
        RUN,
        [
            ToolMessage("h1", CLIENT_TOOL, '{"title": "Home"}'),
        ],
    )
    legs = AiSdkEncoder(RECORD).encode_leg(first) + outputs + stream_of(stamped(Content("Two."), DONE), second)
    message = UiMessageReader().read_stream(legs)
    assert message.id == RUN
    assert [part["type"] for part in message.parts] == [
        "step-start",
        "text",
        f"tool-{CLIENT_TOOL}",
        "step-start",
        "text",
    ]
    assert message.tools[0]["output"] == {"title": "Home"}
    assert message.tools[0]["providerExecuted"], "the client would execute the call again"
    assert message.metadata.keys() == {RUN, "f" * 32}


def test_a_leg_without_events_still_begins() -> None:
    """A run may end before anything was emitted."""
    leg = AiSdkEncoder(RECORD).encode_leg(stamped(Done(True, "cancelled")))
    assert [chunk["type"] for chunk in chunks_in(leg + b"data: [DONE]\n\n")] == [
        "start", "start-step", "finish-step", "message-metadata",
    ]  # fmt: skip


def test_cost_and_usage_are_metadata_of_the_run() -> None:
    """They arrive before an error, behind which the client reads nothing."""
    events = ENDINGS["in text, UPSTREAM_ERROR"]
    kinds = [chunk["type"] for chunk in chunks_in(stream_of(events))]
    assert kinds.index("message-metadata") < kinds.index("error")
    facts = UiMessageReader().read_stream(stream_of(events)).metadata[RUN]
    assert facts["usage"] == {
        "inputTokens": 12, "outputTokens": 5, "totalTokens": 17, "reasoningTokens": 2, "cachedInputTokens": 3,
    }  # fmt: skip
    assert (facts["cost"], facts["code"], facts["status"]) == (0.001, "UPSTREAM_ERROR", "error")


def test_warnings_are_data() -> None:
    """With the code, if they have one."""
    warned = message_of(Warning("Careful.", "TOOL_CLAMP"), Warning("Slow."), Content("a"), DONE)
    data = [part["data"] for part in warned.parts if part["type"] == "data-warning"]
    assert data == [{"message": "Careful.", "code": "TOOL_CLAMP"}, {"message": "Slow."}]
