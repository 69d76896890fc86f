"""Events as server-sent events: one strict frame each, with everything that a client needs to resume."""

import json

import pytest
from signalbox.core.events import (
    ArgumentsDelta,
    Content,
    Done,
    Flag,
    Preview,
    Reasoning,
    Stamped,
    Success,
    ToolResult,
    UsageTotals,
    Warning,
)
from signalbox.core.records import RunRecord
from signalbox.encoders.sse_v1 import SseV1Encoder

RUN = "0" * 32


def frames(*events: object, first: int = 1) -> list[tuple[str, dict[str, object]]]:
    """Encode events and split the bytes into id and data per frame."""
    stamped = [Stamped(seq, 1_790_000_000_000 + seq, event) for seq, event in enumerate(events, first)]  # type: ignore[arg-type]
    text = SseV1Encoder(RunRecord(RUN, "openai/sim", "v2"), first - 1).encode(stamped).decode()
    assert text.endswith("\n\n") or not events
    out = []
    for frame in text.split("\n\n")[:-1]:
        data, name = frame.split("\n")
        assert data.startswith("data: ")
        out.append((name, json.loads(data[6:], parse_constant=pytest.fail)))
    return out


def test_every_frame_has_an_id() -> None:
    """`Last-Event-ID` alone is enough to resume."""
    assert [name for name, _ in frames(Content("a"), Content("b"), first=7)] == [f"id: {RUN}:7", f"id: {RUN}:8"]


def test_the_first_frame_has_version_run_and_loop() -> None:
    """A client that begins at the start gets them on its first frame, even if that is content.

    The first frame does not always have seq 1, because a crash may have lost the first events.
    """
    (_, first), (_, second) = frames(Content("a"), Content("b"))
    assert first == {"type": "content", "content": "a", "v": "1.1", "run_id": RUN, "loop": "v2"}
    assert second == {"type": "content", "content": "b"}
    [(_, later)] = frames(Reasoning("a"), first=2)
    assert "v" not in later
    encoder = SseV1Encoder(RunRecord(RUN, "openai/sim", "legacy"))
    told = [encoder.encode([Stamped(seq, 0, Content("a"))]).count(b'"run_id"') for seq in (1_000_001, 1_000_002)]
    assert told == [1, 0]


def test_pieces_of_arguments_are_not_in_the_contract() -> None:
    """They leave a gap in the numbers, and the next frame is the first one of the run."""
    piece = ArgumentsDelta("a", "f", "{", 1)
    sent = frames(piece, piece, Content("a"))
    assert [(name, data["type"], data["v"]) for name, data in sent] == [(f"id: {RUN}:3", "content", "1.1")]
    encoder = SseV1Encoder(RunRecord(RUN, "openai/sim", "v2"))
    assert encoder.encode([Stamped(1, 0, piece)]) == b""


def test_all_events_except_content_have_a_time() -> None:
    """Content is frequent, so it has no time."""
    sent = frames(Reasoning("a"), Warning("m"), Content("b"), Done(True, "complete"), first=2)
    assert [data.get("ts") for _, data in sent] == [1_790_000_000_002, 1_790_000_000_003, None, 1_790_000_000_005]


def test_absent_fields_are_left_out() -> None:
    """No field is ever null."""
    [(_, done)] = frames(Done(True, "complete"), first=2)
    assert done == {"type": "done", "done": True, "status": "complete", "ts": 1_790_000_000_002}


def test_set_fields_are_encoded() -> None:
    """Nested figures keep their shape, and zeros are encoded."""
    full = Done(True, "complete", usage=UsageTotals(0, 3), cost=0.0, flag=Flag("v2", "DEFAULT"), steps=1)
    [(_, done)] = frames(full, first=2)
    assert (done["usage"], done["cost"]) == ({"input": 0, "output": 3}, 0.0)
    assert done["flag"] == {"variant": "v2", "reason": "DEFAULT"}


def test_any_text_stays_in_its_frame() -> None:
    """Line breaks and separators in a text never break the frame (E5)."""
    text = 'a\nb\r\nc\u2028d\u0085e\n\ndata: x\n\n🚦\x00"\\'
    [(_, data)] = frames(Content(text), first=2)
    assert data["content"] == text


def test_a_result_is_encoded_unchanged() -> None:
    """Null, lists and numbers in a result are sent as the tool returned them."""
    value = {"a": None, "b": [1, 2.5, True], "c": 2**60}
    [(_, data)] = frames(ToolResult("i", "f", Success(True, value), "other", "secondary"), first=2)
    assert data["result"] == {"success": True, "result": value}


def test_an_empty_batch_is_empty() -> None:
    """An empty batch gives no bytes; a ping is a comment."""
    assert SseV1Encoder(RunRecord(RUN, "openai/sim", "v2")).encode([]) == b""
    assert SseV1Encoder.ping == b": ping\n\n"


def test_previews_have_no_time() -> None:
    """Like text, they are the frames that a stream has many of; fields at their default are left out."""
    (_, first), (_, next_one), (_, withdrawn) = frames(
        Preview("a", "create_file", "/path", "a.html", 1), Preview("a", text="<p>"), Preview("a", withdrawn=True)
    )
    assert first | {"type": "preview", "id": "a", "name": "create_file", "key": "/path"} == first
    assert first["text"] == "a.html"
    assert "ts" not in first
    assert next_one == {"type": "preview", "id": "a", "text": "<p>"}
    assert withdrawn == {"type": "preview", "id": "a", "withdrawn": True}
