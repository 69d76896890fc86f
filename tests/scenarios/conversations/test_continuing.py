"""Continuing an answer: what the model receives, where the continuation is stored, and how it appears later."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import httpx
import pytest
from signalbox.conversations.continuing import CONTINUE, GO_ON

from tests.scenarios.conversations.conversation_client import start_conversation
from tests.support.disk import BOTH
from tests.support.fixtures import StartApp
from tests.support.running_app import WAIT, error_of, read_until
from tests.support.scripted_upstream import DONE, Script, chunk, holds, says, sends

DATABASES = BOTH


def limited(text: str) -> Script:
    """Make a script that sends this text and finishes with `length`."""
    return sends(chunk({"content": text}), chunk({}, finish="length") + DONE)


def test_the_model_is_told_to_go_on(start_app: StartApp) -> None:
    """The model receives its own text and one instruction, which the trace shows.

    A later question receives one answer.
    """
    conversation = start_conversation(
        start_app, limited("The inter"), says("national rules."), says("You are welcome.")
    )
    first = conversation.ask("What holds?")
    more = conversation.ask(**{"continue": True, "parent_id": first.run_id})
    assert conversation.sent_messages()[-3:] == [
        ("user", "What holds?"),
        ("assistant", "The inter"),
        ("user", CONTINUE),
    ]
    request = conversation.app.client.get(f"/api/runs/{more.run_id}").json()["request"]
    assert (request["continue"], request["instruction"]) == (True, CONTINUE)
    conversation.ask("Thanks!")
    assert conversation.sent_messages()[-3:] == [
        ("user", "What holds?"), ("assistant", "The international rules."), ("user", "Thanks!"),
    ]  # fmt: skip


def test_it_stands_behind_the_answer(start_app: StartApp) -> None:
    """A run whose parent is a run continues it; the next question follows the continuation."""
    conversation = start_conversation(start_app, limited("One, "), limited("two, "), says("three."), says("Yes."))
    runs = [conversation.ask("Count").run_id]
    for _ in range(2):
        runs.append(conversation.ask(**{"continue": True, "parent_id": runs[-1]}).run_id)
    conversation.ask("Done?")
    tree = conversation.tree()
    parents = {node["id"]: node["parent_id"] for node in tree["messages"]}
    assert [parents[run] for run in runs[1:]] == runs[:-1]
    assert [node["parent_id"] for node in tree["messages"] if node["text"] == "Done?"] == [runs[-1]]
    assert conversation.sent_messages()[-2] == ("assistant", "One, two, three.")


def test_what_is_repeated_is_told_once(start_app: StartApp) -> None:
    """If the model repeats its last words, they appear once in later requests and in the export."""
    conversation = start_conversation(
        start_app, limited("A line.\nThe second line begins"), says("The second line begins and ends."), says("Yes.")
    )
    first = conversation.ask("Two lines")
    conversation.ask(**{"continue": True, "parent_id": first.run_id})
    conversation.ask("Again?")
    whole = "A line.\nThe second line begins and ends."
    assert conversation.sent_messages()[-2] == ("assistant", whole)
    exported = conversation.get("/export").text
    assert whole in exported
    assert exported.count("## Answer") == 2


def test_a_client_that_tells_the_joined_answer_is_understood(start_app: StartApp) -> None:
    """A full history with the joined answer matches both runs and begins no branch."""
    conversation = start_conversation(start_app, limited("The inter"), says("national rules."), says("Yes."))
    first = conversation.ask("What holds?")
    more = conversation.ask(**{"continue": True, "parent_id": first.run_id})
    said = [("user", "What holds?"), ("assistant", "The international rules."), ("user", "Sure?")]
    conversation.ask(messages=[{"role": role, "content": content} for role, content in said])
    assert [node["parent_id"] for node in conversation.tree()["messages"] if node["text"] == "Sure?"] == [more.run_id]


def test_an_answer_that_was_whole_gets_a_new_paragraph(start_app: StartApp) -> None:
    """If the answer was complete, the continuation begins a new paragraph."""
    conversation = start_conversation(start_app, says("So far."), says("More."), says("Yes."))
    first = conversation.ask("Research it")
    conversation.ask(**{"continue": True, "parent_id": first.run_id})
    assert conversation.sent_messages()[-1] == ("user", GO_ON)
    conversation.ask("Thanks")
    assert conversation.sent_messages()[-2] == ("assistant", "So far.\n\nMore.")


def test_a_continuation_is_asked_for_once(start_app: StartApp) -> None:
    """A repeated request with the same key returns the run that it started."""
    conversation = start_conversation(start_app, limited("One, "), says("two."))
    first = conversation.ask("Count")
    body: dict[str, Any] = {"continue": True, "parent_id": first.run_id, "headers": {"idempotency-key": "k-1"}}
    assert conversation.ask(**body).run_id == conversation.ask(**body).run_id
    assert len(conversation.upstream.asked) == 2


@pytest.mark.parametrize(
    "body",
    [
        {"continue": True},
        {"continue": True, "parent_id": None},
        {"continue": True, "parent_id": "RUN", "prompt": "And?"},
        {"continue": True, "parent_id": "RUN", "messages": [{"role": "user", "content": "And?"}]},
        {"continue": True, "parent_id": "RUN", "system": "Be short."},
        {"continue": True, "parent_id": "QUESTION"},
        {"continue": "yes", "parent_id": "RUN"},
    ],
)
def test_what_cannot_be_continued_is_refused(start_app: StartApp, body: dict[str, Any]) -> None:
    """Only an answer can be continued, by its id alone; a rejected request stores nothing."""
    conversation = start_conversation(start_app, limited("One, "))
    first = conversation.ask("Count")
    names = {"RUN": first.run_id, "QUESTION": first.message_id}
    before = conversation.tree()
    refused = conversation.post(
        **{**body, **({"parent_id": names.get(body["parent_id"])} if body.get("parent_id") else {})}
    )
    assert refused.status_code == 422
    error = error_of(refused)
    assert error["code"] == "INVALID_REQUEST"
    assert error.get("field") == "parent_id" or body.get("parent_id") == "RUN"
    assert conversation.tree() == before


def test_an_answer_under_way_is_not_continued(start_app: StartApp) -> None:
    """An answer that is not finished cannot be continued."""
    conversation = start_conversation(start_app, holds)
    with conversation.app.asking("Count", conversation_id=conversation.id) as response:
        pieces = response.iter_raw()  # kept open: a dropped reader disconnects
        read_until(pieces, b"So far")
        refused = conversation.post(**{"continue": True, "parent_id": response.headers["x-run-id"]})
    assert (refused.status_code, error_of(refused)["code"]) == (409, "RUN_NOT_OVER")


def test_two_tabs_continue_an_answer_once(start_app: StartApp) -> None:
    """Of two simultaneous continuations one is rejected, without an upstream request."""
    conversation = start_conversation(start_app, limited("One, "), holds, holds)
    first = conversation.ask("Count")
    both = Barrier(2, timeout=WAIT)

    def press(_: int) -> int:
        body = {"model": "openai/sim", "conversation_id": conversation.id, "continue": True, "parent_id": first.run_id}
        with (
            httpx.Client(base_url=conversation.app.url, timeout=WAIT, trust_env=False, verify=False) as tab,
            tab.stream("POST", "/api/chat/stream", json=body) as response,
        ):
            both.wait()  # both are answered before either disconnects
            return response.status_code

    with ThreadPoolExecutor(2) as tabs:
        assert sorted(tabs.map(press, range(2))) == [200, 409]
    assert len(conversation.upstream.asked) == 2


def test_a_save_holds_the_whole_answer(start_app: StartApp) -> None:
    """A save contains every run of a continued answer and the first question, also once they are deleted."""
    conversation = start_conversation(start_app, limited("One, "), limited("two, "), says("three."))
    runs = [conversation.ask("Count").run_id]
    for _ in range(2):
        runs.append(conversation.ask(**{"continue": True, "parent_id": runs[-1]}).run_id)
    client = conversation.app.client
    traces = [client.get(f"/api/runs/{run}").json() for run in runs]
    saved = client.post("/api/saves", json={"run_id": runs[-1]}).json()
    assert saved["title"] == "Count"
    assert client.delete(f"/api/conversations/{conversation.id}").json()["saves_kept"] == 1
    opened = client.get(f"/api/saves/{saved['id']}").json()
    parts = [*opened["earlier"], opened]
    assert [part["run_id"] for part in parts] == runs
    texts = ["".join(e["content"] for e in part["events"] if e["type"] == "content") for part in parts]
    assert texts == ["One, ", "two, ", "three."]
    assert [part["trace"]["done"] for part in parts] == [trace["done"] for trace in traces]
    assert opened["question"]["prompt"] == "Count"


def test_a_save_of_one_run_has_no_earlier_ones(start_app: StartApp) -> None:
    """The run of a second question is saved without the earlier runs."""
    conversation = start_conversation(start_app, says("One."), says("Two."))
    conversation.ask("Count")
    second = conversation.ask("Go on")
    saved = conversation.app.client.post("/api/saves", json={"run_id": second.run_id}).json()
    opened = conversation.app.client.get(f"/api/saves/{saved['id']}").json()
    assert (opened["earlier"], opened["title"]) == ([], "Go on")
