"""Conversations, saves and runs through the Python client, on the real app."""

import asyncio
from contextlib import ExitStack

import httpx
import pytest
from signalbox_client import AsyncSignalbox, ConnectionLost, NotFound

from tests.scenarios.python_client.conftest import FAST, open_client
from tests.scenarios.resume.breaking_proxy import BreakingProxy, Bytes
from tests.support.fixtures import StartApp
from tests.support.running_app import WAIT, RunningApp
from tests.support.scripted_upstream import says

MODEL = "openai/sim"


def test_a_conversation_with_an_edited_message(start_app: StartApp, stack: ExitStack) -> None:
    """Questions add to a conversation; an edited message is a new branch, which can be unselected again."""
    app, _ = start_app(says("One."), says("Two."), says("Edited."), says("Again."))
    client = open_client(stack, app.url)
    created = client.conversations.create("Numbers")
    ask = {"model": MODEL, "conversation_id": created["id"], "tools": []}
    first, second = client.ask("Say one.", **ask), client.ask("Say two.", **ask)
    conversation = client.conversations.get(created["id"])
    assert [node["text"] for node in conversation["messages"]] == ["Say one.", "One.", "Say two.", "Two."]
    assert conversation["leaf_id"] == second.run_id
    [message] = [node for node in conversation["messages"] if node["id"] == second.message_id]
    edited = client.ask("Say something else.", parent_id=message["parent_id"], **ask)
    assert (edited.text, message["parent_id"]) == ("Edited.", first.run_id)
    assert client.ask(parent_id=edited.message_id, **ask).message_id == edited.message_id, "another answer"
    assert client.conversations.select(created["id"], second.run_id)["leaf_id"] == second.run_id
    assert client.conversations.rename(created["id"], "Counting")["title"] == "Counting"
    assert "Two." in client.conversations.export(created["id"])
    client.conversations.delete(created["id"])
    with pytest.raises(NotFound):
        client.conversations.get(created["id"])


def test_an_answer_is_continued(start_app: StartApp, stack: ExitStack) -> None:
    """`continue_` is the parameter `continue`, which Python reserves."""
    app, _ = start_app(says("Half"), says(" and half."))
    client = open_client(stack, app.url)
    first = client.ask("Hello!", model=MODEL, conversation_id="chat", tools=[])
    rest = client.ask(model=MODEL, conversation_id="chat", parent_id=first.run_id, continue_=True, tools=[])
    assert first.text + rest.text == "Half and half."


def test_lists_have_all_pages(app: RunningApp, stack: ExitStack) -> None:
    """Lists are read page by page; a search finds text in messages."""
    client = open_client(stack, app.url)
    for number in range(53):
        client.conversations.create(f"Zürich {number}", f"page-{number}")
    found = [one["title"] for one in client.conversations.list(search="zürich")]
    assert found == [f"Zürich {number}" for number in reversed(range(53))]
    assert len(list(client.conversations.list())) >= 53
    assert list(client.conversations.list(search="no such text")) == []


def test_a_save_outlives_its_run(app: RunningApp, stack: ExitStack) -> None:
    """A snapshot has the events of the run, also after the run is deleted."""
    client = open_client(stack, app.url)
    with client.stream("What is 17 * 23?", model=MODEL) as run:
        answer = run.answer()
        events = list(run._read)
    save = client.saves.create(run.id, "Product", {"tab": "tools"})
    client.runs.delete(run.id)
    assert save["id"] in [one["id"] for one in client.saves.list()]
    assert client.saves.get(save["id"])["data"] == {"tab": "tools"}
    with client.saves.events(save["id"]) as saved:
        assert list(saved) == events
        assert saved.answer().text == answer.text
    client.saves.delete(save["id"])
    with pytest.raises(NotFound):
        client.saves.get(save["id"])


def test_traces_and_lists_of_runs(app: RunningApp, stack: ExitStack) -> None:
    """A trace has the attempts and tool calls of a run; the list can be filtered by status."""
    client = open_client(stack, app.url)
    answer = client.ask("What is 17 * 23?", model=MODEL)
    trace = client.runs.trace(answer.run_id)
    assert (trace["status"], trace["cost"]) == ("complete", answer.done.cost)
    assert [call["id"] for call in trace["tools"]] == [call.id for call in answer.calls]
    assert answer.run_id in [run["run_id"] for run in client.runs.list(["complete"])]
    assert answer.run_id not in [run["run_id"] for run in client.runs.list(["error", "cancelled"])]
    assert client.runs.stop(answer.run_id)["stopped"] is False
    assert MODEL in [model["id"] for model in client.models()]
    assert "calculate" in [tool["name"] for tool in client.tools()]


def test_a_lost_response_does_nothing_twice(app: RunningApp, stack: ExitStack) -> None:
    """Creating and deleting are repeated safely; saving is not repeated after it was sent."""
    with BreakingProxy(app.port, [Bytes(0)]) as wire:
        created = open_client(stack, wire.url).conversations.create("Once")
        assert wire.cuts == 1
    client = open_client(stack, app.url)
    assert [one["id"] for one in client.conversations.list(search="Once")] == [created["id"]]
    with BreakingProxy(app.port, [Bytes(0)]) as wire:
        open_client(stack, wire.url).conversations.delete(created["id"])
        assert wire.cuts == 1
    run_id = client.ask("Hello!", model=MODEL).run_id
    with BreakingProxy(app.port, [Bytes(0)]) as wire, pytest.raises(ConnectionLost, match="Check that the server"):
        open_client(stack, wire.url).saves.create(run_id)
    assert [save["run_id"] for save in client.saves.list()].count(run_id) == 1


def test_the_asynchronous_client_does_the_same(app: RunningApp) -> None:
    """Lists, conversations, saves and traces with asyncio."""

    async def use() -> None:
        async with httpx.AsyncClient(timeout=WAIT, trust_env=False, verify=False) as http:
            client = AsyncSignalbox(app.url, backoff=FAST, http=http)
            created = await client.conversations.create("Async")
            answers = await asyncio.gather(*(client.ask(f"{n} * 2?", model=MODEL) for n in range(5)))
            assert len({answer.run_id for answer in answers}) == 5
            assert [one["id"] async for one in client.conversations.list(search="async")] == [created["id"]]
            save = await client.saves.create(answers[0].run_id)
            async with client.saves.events(save["id"]) as saved:
                assert (await saved.answer()).text == answers[0].text
            assert (await client.runs.trace(answers[0].run_id))["status"] == "complete"
            await client.conversations.delete(created["id"])

    asyncio.run(use())
