"""The check of previews: what it accepts, and the sentence for each fault."""

import pytest
from signalbox.core.events import AnyEvent, Call, Content, Done, Preview, Success, ToolCalls, ToolResult
from signalbox.core.order.invariants import OrderCheck, first_fault

END: list[AnyEvent] = [Content("Saved."), Done(True, "complete")]
FIRST = Preview("a", "f", "/path", "a.html", 1)
MORE = Preview("a", key="/content", text="<p>")
NEXT = Preview("a", text="Hi")
WITHDRAWN = Preview("a", withdrawn=True)


def announced(previewed: dict[str, int] | None = None, name: str = "f") -> list[AnyEvent]:
    """Announce call a, and emit its result."""
    call = Call("a", name, "{}", "other", "secondary", **({} if previewed is None else {"previewed": previewed}))
    return [ToolCalls([call]), ToolResult("a", name, Success(True, None), "other", "secondary")]


@pytest.mark.parametrize(
    "events",
    [
        [FIRST, MORE, NEXT, *announced({"/path": 6, "/content": 5})],
        [FIRST, MORE, *announced({"/path": 6})],
        [FIRST, *announced()],
        [FIRST, WITHDRAWN],
        [FIRST, MORE, WITHDRAWN, *announced()],
        [FIRST, Content("x"), MORE, *announced()],
    ],
)
def test_previews_precede_their_call_or_are_withdrawn(events: list[AnyEvent]) -> None:
    """A withdrawn call may be announced under the same id, with its whole arguments."""
    assert first_fault([*events, *END]) is None


@pytest.mark.parametrize(
    ("events", "fault"),
    [
        ([MORE], "the first preview of call a has no name or no key"),
        ([Preview("a", "f", text="x")], "the first preview of call a has no name or no key"),
        ([FIRST, Preview("a", key="/content")], "preview of call a has no text"),
        ([FIRST], "done while the preview of call a is neither announced nor withdrawn"),
        ([WITHDRAWN], "the previews of call a are withdrawn, but it has none"),
        ([FIRST, Preview("a", text="x", withdrawn=True)], "the preview that withdraws call a has text"),
        ([FIRST, WITHDRAWN, FIRST], "preview of call a after its previews are withdrawn"),
        ([FIRST, *announced(), MORE], "preview of call a after it is announced"),
        ([FIRST, *announced(name="g")], "call a is announced as 'g', but previewed as 'f'"),
        ([FIRST, *announced({"/path": 7})], "call a has 6 previewed characters of /path, not 7"),
        ([FIRST, WITHDRAWN, *announced({"/path": 6})], "call a has 0 previewed characters of /path, not 6"),
        (announced({"/content": 5}), "call a has 0 previewed characters of /content, not 5"),
    ],
)
def test_faults_of_previews(events: list[AnyEvent], fault: str) -> None:
    """Each fault is a sentence that names the call."""
    assert first_fault([*events, *END]) == fault


def test_a_resumed_stream_may_begin_between_previews() -> None:
    """The earlier previews are unknown, so their sizes are not checked."""
    check = OrderCheck(resumed=True)
    assert [check.feed(event) for event in [NEXT, *announced({"/content": 5}), *END]] == [None] * 5
    check = OrderCheck(resumed=True)
    assert [check.feed(event) for event in [WITHDRAWN, *END]] == [None] * 3
