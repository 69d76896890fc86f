"""The endpoints of conversations: create, list, search, open, change."""

import re
from typing import Any

import pytest

from tests.scenarios.conversations.conversation_client import ConversationClient, start_conversation
from tests.support.disk import BOTH
from tests.support.fixtures import StartApp
from tests.support.running_app import error_of, read_until
from tests.support.scripted_upstream import DONE, chunk, holds, says, sends

URL = "/api/conversations"
DATABASES = BOTH


@pytest.fixture
def conversation(start_app: StartApp) -> ConversationClient:
    """Start a conversation with a provider that says hello."""
    return start_conversation(start_app, says("Hello."))


# --- create ---


def test_begin(conversation: ConversationClient) -> None:
    """A conversation is created without a question; the second request returns the existing one."""
    made = conversation.app.client.post(URL, json={"id": conversation.id, "title": "  Time zones "})
    again = conversation.app.client.post(URL, json={"id": conversation.id, "title": "Other"})
    assert (made.status_code, again.status_code) == (201, 200)
    assert made.json() == again.json()
    assert made.json()["title"] == "Time zones"
    assert conversation.tree() == {**made.json(), "leaf_id": None, "messages": []}
    conversation.ask("What is the time?")
    assert conversation.tree()["title"] == "Time zones"


def test_begin_without_anything(conversation: ConversationClient) -> None:
    """Without id and title, it gets a new id, and its title from the first question."""
    made = conversation.app.client.post(URL, json={}).json()
    assert re.fullmatch("[0-9a-f]{32}", made["id"])
    conversation.id = made["id"]
    conversation.ask("What is the time?")
    assert conversation.tree()["title"] == "What is the time?"
    assert conversation.app.client.post(URL).status_code == 201
    assert conversation.app.client.post(URL, content=b"{").status_code == 400


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"title": ""}, "title"),
        ({"title": "  "}, "title"),
        ({"title": "\u200b\n"}, "title"),
        ({"title": "x" * 201}, "title"),
        ({"title": "x" * 65536}, "title"),
        ({"id": "a b"}, "id"),
        ({"id": "."}, "id"),
        ({"id": ".."}, "id"),
        ({"id": "x" * 257}, "id"),
        ({"name": "x"}, "name"),
    ],
)
def test_begin_refuses(conversation: ConversationClient, body: dict[str, str], field: str) -> None:
    """An invalid title or id is rejected by name."""
    response = conversation.app.client.post(URL, json=body)
    assert response.status_code == 422
    assert error_of(response)["field"] == field


def test_columns(conversation: ConversationClient) -> None:
    """The column of a compared answer is stored and returned, and not sent to the provider."""
    first = conversation.ask("What is the time?", model="openai/sim", column=1)
    conversation.ask(parent_id=first.message_id, model="anthropic/sim", column=0)
    conversation.ask(parent_id=first.message_id, model="google/sim")
    answers = [node for node in conversation.tree()["messages"] if node["role"] == "assistant"]
    assert [(node["model"], node["column"]) for node in answers] == [
        ("openai/sim", 1),
        ("anthropic/sim", 0),
        ("google/sim", None),
    ]
    assert all(isinstance(node["first_token_ms"], int) and node["provider"] == "Scripted" for node in answers)
    assert all("column" not in exchange.body for exchange in conversation.upstream.asked)


def test_the_column_of_an_answer_under_way(start_app: StartApp) -> None:
    """A page that reloads during the answers puts them into their columns."""
    conversation = start_conversation(start_app, holds)
    asked = {"model": "openai/sim", "tools": [], "prompt": "Hello!", "conversation_id": conversation.id, "column": 2}
    with conversation.app.client.stream("POST", "/api/chat/stream", json=asked) as response:
        # Kept by name: a collected iterator closes the stream, and with it the run.
        chunks = response.iter_raw()
        read_until(chunks, b'"So far"')
        (node,) = [node for node in conversation.tree()["messages"] if node["role"] == "assistant"]
    assert (node["status"], node["column"]) == ("running", 2)
    assert isinstance(node["first_token_ms"], int)


# --- list ---


def test_the_list_tells_what_is_in_each(conversation: ConversationClient) -> None:
    """The list has title, times, number of messages, model, and whether a run is unfinished; the newest first."""
    conversation.ask("one")
    conversation.ask("two", model="anthropic/sim")
    ConversationClient(conversation.app, conversation.upstream, "talk-2").ask("other")
    listed = conversation.app.client.get(URL).json()
    assert listed["next"] is None
    assert [line["id"] for line in listed["conversations"]] == ["talk-2", "talk-1"]
    line = listed["conversations"][1]
    assert set(line) == {"id", "title", "created", "updated", "messages", "cost", "paid", "model", "is_running"}
    assert (line["title"], line["messages"], line["model"], line["is_running"]) == ("one", 4, "anthropic/sim", False)
    assert line["created"] < line["updated"]
    conversation.ask("three")
    assert conversation.app.client.get(URL).json()["conversations"][0]["id"] == "talk-1"


def test_the_list_knows_what_is_under_way(start_app: StartApp) -> None:
    """A run counts as unfinished until it is over, not until it is on disk."""
    conversation = start_conversation(start_app, holds)
    with conversation.app.asking("one", conversation_id=conversation.id) as response:
        pieces = response.iter_raw()
        read_until(pieces, b"So far")
        assert conversation.app.client.get(URL).json()["conversations"][0]["is_running"] is True
    conversation.app.over(response.headers["x-run-id"])
    assert conversation.app.client.get(URL).json()["conversations"][0]["is_running"] is False


def test_the_list_tells_the_cost_at_once(start_app: StartApp) -> None:
    """The cost of a run is listed as soon as it is over."""
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2, "cost": 0.25}
    conversation = start_conversation(
        start_app, sends(chunk({"content": "A"}), chunk({}, finish="stop", usage=usage) + DONE)
    )
    for cost in (0.25, 0.5):
        conversation.ask("one")
        assert conversation.app.client.get(URL).json()["conversations"][0]["cost"] == cost


def test_pages_are_stable_under_equal_times(conversation: ConversationClient) -> None:
    """Over all pages each conversation occurs once, also with equal times."""
    ids = [f"c{n:02}" if n % 2 else f"_{n}:x" for n in range(11)]
    for one in ids:
        conversation.app.client.post(URL, json={"id": one, "title": one})

    def same(connection: Any) -> None:
        connection.exec_driver_sql(
            "UPDATE conversations SET updated = 1795227719.123456 WHERE id NOT IN ('c01', 'c03')"
        )

    conversation.app.within(conversation.app.parts.database.write(same))
    seen: list[str] = []
    before: dict[str, str] = {}
    while True:
        page = conversation.app.client.get(URL, params={"limit": 3, **before}).json()
        seen += [line["id"] for line in page["conversations"]]
        if page["next"] is None:
            break
        assert len(page["conversations"]) == 3
        before = {"before": page["next"]}
    assert sorted(seen) == sorted(ids)
    assert len(seen) == len(ids)


@pytest.mark.parametrize("query", ["limit=0", "limit=201", "limit=x", "before=x", "before=1", "search=" + "x" * 201])
def test_the_list_refuses(conversation: ConversationClient, query: str) -> None:
    """An invalid limit, cursor or search is a 422."""
    assert error_of(conversation.app.client.get(f"{URL}?{query}"))["code"] == "INVALID_REQUEST"


# --- search ---


def found(conversation: ConversationClient, wanted: str) -> dict[str, str]:
    """Return the match of each conversation that a search finds."""
    listed = conversation.app.client.get(URL, params={"search": wanted}).json()["conversations"]
    return {line["id"]: line["match"] for line in listed}


def test_search_finds_titles_messages_and_answers(start_app: StartApp) -> None:
    """Search ignores case, also of umlauts; the excerpt shows the text around the match."""
    conversation = start_conversation(start_app, says("Grüße aus ", "KÖLN und der Straße."))
    conversation.ask("Wo liegt " + "sehr " * 40 + "ÜBERLINGEN am großen Bodensee?")
    other = ConversationClient(conversation.app, conversation.upstream, "talk-2")
    conversation.app.client.post(URL, json={"id": "talk-2", "title": "Ärger"})
    other.ask("x")
    assert set(found(conversation, "überlingen")) == {"talk-1"}
    match = found(conversation, "überlingen")["talk-1"]
    assert match.startswith("…")
    assert "ÜBERLINGEN am großen Bodensee?" in match
    assert set(found(conversation, "GROSSEN")) == {"talk-1"}
    assert len(match) < 200
    assert set(found(conversation, "köln")) == {"talk-1", "talk-2"}
    assert "KÖLN" in found(conversation, "köln")["talk-1"]
    assert found(conversation, "STRASSE")["talk-2"] == "Grüße aus KÖLN und der Straße."
    assert found(conversation, "äRGER") == {"talk-2": "Ärger"}
    assert found(conversation, "a\u0308rger") == {
        "talk-2": "Ärger"
    }  # some keyboards write a letter and a combining mark
    other.ask("Zu\u0308rich")
    assert found(conversation, "zürich") == {"talk-2": "Zürich"}
    assert found(conversation, "nowhere") == {}
    assert "match" not in conversation.app.client.get(URL, params={"search": " "}).json()["conversations"][0]


def test_signs_are_searched_as_letters(conversation: ConversationClient) -> None:
    """%, _, quotes and backslashes are literal."""
    for place, text in enumerate(("100%", "a_b", "axb", "it's", "back\\slash", "1000")):
        ConversationClient(conversation.app, conversation.upstream, f"c{place}").ask(text)
    assert set(found(conversation, "0%")) == {"c0"}
    assert set(found(conversation, "a_b")) == {"c1"}
    assert set(found(conversation, "'s")) == {"c3"}
    assert set(found(conversation, "k\\s")) == {"c4"}
    assert set(found(conversation, "100")) == {"c0", "c5"}


# --- change ---


def test_a_title_that_was_given_stays(conversation: ConversationClient) -> None:
    """PATCH trims and stores a title; later questions do not change it."""
    conversation.ask("one")
    changed = conversation.app.client.patch(f"{URL}/{conversation.id}", json={"title": " Zürich "})
    assert changed.json()["title"] == "Zürich"
    conversation.ask("two")
    assert conversation.tree()["title"] == "Zürich"
    assert set(found(conversation, "ZÜRICH")) == {conversation.id}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "INVALID_REQUEST"),
        ({"title": ""}, "INVALID_REQUEST"),
        ({"title": "x" * 65536}, "INVALID_REQUEST"),
        ({"title": "a", "id": "b"}, "UNKNOWN_FIELD"),
        ({"leaf_id": "unknown"}, "UNKNOWN_MESSAGE"),
    ],
)
def test_a_change_that_cannot_be_is_refused(conversation: ConversationClient, body: dict[str, str], code: str) -> None:
    """A rejected change changes nothing."""
    conversation.ask("one")
    before = conversation.tree()
    assert error_of(conversation.app.client.patch(f"{URL}/{conversation.id}", json=body))["code"] == code
    assert conversation.tree() == before


def test_a_leaf_is_a_node_of_the_conversation(conversation: ConversationClient) -> None:
    """A node of another conversation cannot be selected."""
    first = ConversationClient(conversation.app, conversation.upstream, "talk-2").ask("x")
    conversation.ask("one")
    response = conversation.app.client.patch(f"{URL}/{conversation.id}", json={"leaf_id": first.run_id})
    assert (response.status_code, error_of(response)["field"]) == (422, "leaf_id")


@pytest.mark.parametrize("name", ["unknown", "a b", "x" * 300, "%00", "ü"])
def test_an_unknown_conversation_is_404_everywhere(conversation: ConversationClient, name: str) -> None:
    """Every endpoint answers 404 for an unknown id."""
    client, url = conversation.app.client, f"{URL}/{name}"
    answers = [
        client.get(url),
        client.patch(url, json={"title": "x"}),
        client.delete(url),
        client.get(f"{url}/export"),
        client.get(f"{url}/export", params={"format": "json"}),
    ]
    assert [answer.status_code for answer in answers] == [404] * 5
    assert {error_of(answer)["code"] for answer in answers} == {"UNKNOWN_CONVERSATION"}


# --- titles ---


@pytest.mark.parametrize(
    ("asked", "title"),
    [
        ("What is the time in Tokyo?", "What is the time in Tokyo?"),
        ("# *Plan*\n\n- `one` and\n- **two**", "Plan one and two"),
        ("> See [the docs](https://example.org/x) please", "See the docs please"),
        ("word " * 30, "word word word word word word word word word word word word"),
        ("x" * 100, "x" * 60),
        ("snake_case and 2 * 3", "snake_case and 2 * 3"),
        ("```python\nprint(1)\n```", "print(1)"),
    ],
)
def test_a_title_is_the_first_words(conversation: ConversationClient, asked: str, title: str) -> None:
    """A title is one line of at most 60 characters of whole words, without a request to a model."""
    conversation.ask(asked)
    assert conversation.tree()["title"] == title
    assert len(conversation.upstream.asked) == 1


def test_a_title_waits_for_words(conversation: ConversationClient) -> None:
    """A first message with only an image gives no title; the next one with text does."""
    image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    conversation.ask(messages=[{"role": "user", "content": [image]}])
    assert conversation.tree()["title"] == "New conversation"
    conversation.ask("What is it?")
    assert conversation.tree()["title"] == "What is it?"
