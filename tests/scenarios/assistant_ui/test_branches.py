"""Branches of an assistant-ui page: which versions its messages have, and switching between them."""

from typing import Any

from tests.scenarios.assistant_ui.page import Page, message
from tests.scenarios.tool_loop.script import answers
from tests.support.fixtures import StartApp


def versions(page: Page, place: int) -> list[str] | None:
    """Return the ids of a shown message's versions."""
    return page.messages[place].get("additional_kwargs", {}).get("metadata", {}).get("versions")


def switch(message_id: str) -> dict[str, Any]:
    """Return the command that switches to the branch with a message."""
    return {"type": "switch-branch", "messageId": message_id}


def test_an_edit_and_a_reload_have_versions(start_app: StartApp) -> None:
    """An edited question and an answer that was made again name their versions, in the stream and in the store."""
    app, _ = start_app(answers("One."), answers("Two."), answers("Three."))
    page = Page(app)
    page.ask("Hi")
    first, answer = (one["id"] for one in page.messages)
    assert (versions(page, 0), versions(page, 1)) == (None, None)
    page.send(message("Hello", parentId=None))
    second = page.messages[0]["id"]
    assert versions(page, 0) == [first, second]
    assert versions(page, 1) is None
    page.send({"type": "reload", "parentId": second})
    assert page.texts == ["Hello", "Three."]
    again = versions(page, 1)
    assert again is not None
    assert (len(again), again[-1], answer in again) == (2, page.messages[1]["id"], False)
    stored = app.client.get("/assistant/state", params={"threadId": page.fields["threadId"]}).json()
    assert stored["messages"] == page.messages


def test_switching_shows_the_newest_branch_of_a_version(start_app: StartApp) -> None:
    """A switch starts no run; the branch stays the current one for reloads and for the next message."""
    app, upstream = start_app(answers("One."), answers("Two."), answers("Three."), answers("Four."))
    page = Page(app)
    page.ask("Hi")
    first = page.messages[0]["id"]
    page.ask("More")
    page.send(message("Hello", parentId=None))
    second = page.messages[0]["id"]
    page.send(switch(first))
    assert page.texts == ["Hi", "One.", "More", "Two."]
    assert versions(page, 0) == [first, second]
    stored = app.client.get("/assistant/state", params={"threadId": page.fields["threadId"]}).json()
    assert stored["messages"] == page.messages
    assert len(upstream.asked) == 3
    page.ask("Again")
    assert [one["content"] for one in upstream.asked[-1].body["messages"]] == ["Hi", "One.", "More", "Two.", "Again"]
    page.send(switch(second))
    assert page.texts == ["Hello", "Three."]


def test_switching_to_an_answer(start_app: StartApp) -> None:
    """The id of an answer's further message is as good as that of its first."""
    app, _ = start_app(answers("One."), answers("Two."))
    page = Page(app)
    page.ask("Hi")
    one = page.messages[1]["id"]
    page.send({"type": "reload", "parentId": page.messages[0]["id"]})
    page.send(switch(f"{one}.2"))
    assert page.texts == ["Hi", "One."]


def test_a_message_and_a_switch_in_one_request(start_app: StartApp) -> None:
    """The message names its position, so it is answered there."""
    app, _ = start_app(answers("One."), answers("Two."))
    page = Page(app)
    page.ask("Hi")
    page.send(switch(page.messages[0]["id"]), message("More", parentId=page.messages[1]["id"]))
    assert page.texts == ["Hi", "One.", "More", "Two."]


def test_a_switch_to_an_unknown_message_is_rejected(start_app: StartApp) -> None:
    """An id that is not in the thread, made up or of another thread, is an error that names the field."""
    app, _ = start_app(answers("One."), answers("Two."))
    other = Page(app, "another thread")
    other.ask("Hi")
    page = Page(app)
    page.ask("Hi")
    for message_id in ("__LOCALID_x", other.messages[0]["id"]):
        response = page.post(switch(message_id))
        error = response.json()["error"]
        assert (response.status_code, error["code"], error["field"]) == (422, "UNKNOWN_MESSAGE", "messageId")
    assert page.post({"type": "switch-branch"}).status_code == 422
