"""The client joins previews, and its answers contain whole arguments."""

import json

from signalbox_client import Call, Event, Preview, Previews, ToolCalls
from signalbox_client.answers import answer_of
from signalbox_client.events import event_of

from tests.scenarios.contract.golden import FIXTURES

PAGE = {"path": "index.html", "content": "<h1>Hello 😀</h1>\n"}


def golden_events() -> list[Event]:
    """Return the events of the golden stream with previews."""
    frames = (FIXTURES / "previews.sse").read_text(encoding="utf-8").split("\n\n")[:-1]
    return [event_of(seq, json.loads(frame.split("\n")[0].removeprefix("data: "))) for seq, frame in enumerate(frames)]


def test_previews_are_joined_and_forgotten_when_they_are_withdrawn() -> None:
    """The first attempt of the stream fails in the middle of the file, so its call is withdrawn."""
    previews, seen = Previews(), list[str]()
    for event in golden_events():
        previews.add(event)
        if isinstance(event, Preview) and event.id in previews.texts:
            seen.append(previews.texts[event.id].get("/content", ""))
        if isinstance(event, ToolCalls):
            assert json.loads(event.calls[0].arguments) == {"path": "", "content": ""}
            assert json.loads(previews.whole(event.calls[0]).arguments) == PAGE
    assert seen == ["", "<h1>Hel", "", "<h1>Hel", "<h1>Hello ", PAGE["content"]]
    assert [*previews.texts.values()] == [{"/path": "index.html", "/content": PAGE["content"]}]


def test_an_answer_has_whole_arguments() -> None:
    """A program that does not look at the events does not notice previews."""
    [call] = answer_of(golden_events(), "run", None, None).calls
    assert json.loads(call.arguments) == PAGE


def test_strings_inside_of_lists_are_put_in_their_place() -> None:
    """Only those that the call names; previews without their beginning are ignored."""
    previews = Previews()
    for key, text in (("/edits/0/new_text", "a"), (None, "b"), ("/a~1b", "x")):
        previews.add(Preview(type="preview", seq=1, raw={}, id="a", key=key, text=text))
    previews.add(Preview(type="preview", seq=1, raw={}, id="lost", text="x"))
    call = Call(
        id="a", name="f", arguments='{"edits": [{"new_text": ""}], "a/b": "y"}', previewed={"/edits/0/new_text": 2}
    )
    assert json.loads(previews.whole(call).arguments) == {"edits": [{"new_text": "ab"}], "a/b": "y"}
    assert previews.whole(Call(id="b", name="f", arguments="{}")).arguments == "{}"
    assert "lost" not in previews.texts
