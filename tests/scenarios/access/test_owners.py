"""Two owners with equal conversation ids, equal idempotency keys, and unfinished runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.scenarios.access.users import User, UserApp, serve_users
from tests.support.running_app import error_of, read_until
from tests.support.scripted_upstream import Script, ScriptedUpstream, holds, says

ID = "chat-1"


@contextmanager
def over(data: Path, *scripts: Script) -> Iterator[tuple[UserApp, ScriptedUpstream]]:
    """Serve users over a scripted provider."""
    with (
        ScriptedUpstream(*scripts) as upstream,
        serve_users(data, openrouter_base_url=upstream.base_url) as users,
    ):
        yield users, upstream


def texts(user: User) -> list[str]:
    """Return the texts of the conversation with that id."""
    return [node["text"] for node in user.client.get(f"/api/conversations/{ID}").json()["messages"]]


def test_two_owners_choose_the_same_conversation_id(tmp_path: Path) -> None:
    """Each owner has a separate conversation: history, title, list, export and deletion."""
    with over(tmp_path, says("Yes.")) as (users, upstream):
        for name in ("ada", "bob", "guest"):
            begun = users[name].client.post("/api/conversations", json={"id": ID, "title": f"Of {name}"})
            assert (begun.status_code, begun.json()["id"]) == (201, ID)
        for question in ("first", "second"):
            for name in ("ada", "bob", "guest"):
                answer = users[name].ask(f"{name}'s {question}", conversation_id=ID)
                assert answer.headers["x-conversation-id"] == ID
        for asked, name in zip(upstream.asked[-3:], ("ada", "bob", "guest"), strict=True):
            told = [message["content"] for message in asked.body["messages"]]
            assert told == [f"{name}'s first", "Yes.", f"{name}'s second"]
        ada, bob, guest = users["ada"], users["bob"], users["guest"]
        assert texts(bob) == ["bob's first", "Yes.", "bob's second", "Yes."]
        assert [(line["id"], line["title"]) for line in ada.listed("conversations")] == [(ID, "Of ada")]
        whole = bob.client.get(f"/api/conversations/{ID}/export", params={"format": "json"})
        assert (whole.json()["id"], whole.json()["title"]) == (ID, "Of bob")
        assert bob.owner not in whole.text
        assert {run["conversation_id"] for run in users["operator"].listed("runs")} == {ID}
        assert ada.client.delete(f"/api/conversations/{ID}").json()["deleted"]
        assert ada.client.get(f"/api/conversations/{ID}").status_code == 404
        assert ada.listed("runs") == []
        assert len(texts(bob)) == len(texts(guest)) == 4


def test_the_id_under_which_it_is_kept_opens_nothing(tmp_path: Path) -> None:
    """Another owner's conversation cannot be addressed by its stored id, however a slash is encoded."""
    with over(tmp_path, says("Yes.")) as (users, _):
        ada, guest = users["ada"], users["guest"]
        ada.ask("mine", conversation_id=ID)
        for name in (f"{ada.owner}/{ID}", f"{ada.owner}%2F{ID}", f"{ada.owner}%252F{ID}"):
            assert guest.client.get(f"/api/conversations/{name}").status_code == 404
        named = {"model": "openai/sim", "prompt": "x", "conversation_id": f"{ada.owner}/{ID}"}
        assert error_of(guest.client.post("/api/chat/stream", json=named))["field"] == "conversation_id"
        assert guest.client.post("/api/conversations", json={"id": f"{ada.owner}/{ID}"}).status_code == 422
        before = f"9999999999.0_{ada.owner}/{ID}"
        assert guest.client.get("/api/conversations", params={"before": before}).status_code == 422


def test_no_message_follows_one_of_another_owner(tmp_path: Path) -> None:
    """A message cannot follow a node of another owner's conversation, even with the same conversation id."""
    with over(tmp_path, says("Yes.")) as (users, _):
        ada, bob = users["ada"], users["bob"]
        asked = ada.ask("mine", conversation_id=ID).headers
        bob.ask("mine too", conversation_id=ID)
        for node_id in (asked["x-message-id"], asked["x-run-id"]):
            body = {"model": "openai/sim", "prompt": "and then?", "conversation_id": ID, "parent_id": node_id}
            refused = bob.client.post("/api/chat/stream", json=body)
            assert error_of(refused)["code"] == "UNKNOWN_MESSAGE"
            turned = bob.client.patch(f"/api/conversations/{ID}", json={"leaf_id": node_id})
            assert error_of(turned)["code"] == "UNKNOWN_MESSAGE"
        assert len(texts(ada)) == len(texts(bob)) == 2


def test_two_owners_choose_the_same_key(tmp_path: Path) -> None:
    """An Idempotency-Key finds only runs of the same owner."""
    key = {"idempotency-key": "once"}
    with over(tmp_path, says("Yes.")) as (users, upstream):
        first, again = ({n: users[n].ask("Hello!", key).headers["x-run-id"] for n in users.people} for _ in range(2))
        assert first == again
        assert first["guest"] == first["operator"], "both are asked for without an API token"
        assert len(set(first.values())) == len(upstream.asked) == 3
        other = {"model": "openai/sim", "prompt": "Another question", "tools": []}
        reused = users["ada"].client.post("/api/chat/stream", json=other, headers=key)
        assert error_of(reused)["code"] == "KEY_REUSED"


@contextmanager
def under_way(user: User) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Send a question and read until the first text has arrived."""
    asked = {"model": "openai/sim", "prompt": "Hello!", "tools": []}
    with user.client.stream("POST", "/api/chat/stream", json=asked) as response:
        chunks = response.iter_raw()
        read_until(chunks, b"So far")
        yield response.headers["x-run-id"], chunks


def test_an_unfinished_run_belongs_to_its_owner(tmp_path: Path) -> None:
    """Other users cannot follow, poll, resume, stop or inspect an unfinished run; the operator can read and stop it."""
    with over(tmp_path, holds) as (users, _), under_way(users["ada"]) as (run_id, chunks):
        bob, operator = users["bob"], users["operator"]

        def asked_by(user: User) -> list[httpx.Response]:
            get, post = user.client.get, user.client.post
            return [
                get(f"/api/runs/{run_id}"),
                get(f"/api/runs/{run_id}/events", params={"follow": "false"}),
                post(f"/api/runs/{run_id}/stop"),
            ]

        refused = [*asked_by(bob), bob.client.post("/api/chat/stream", headers={"last-event-id": f"{run_id}:1"})]
        assert {error_of(one)["code"] for one in refused} == {"UNKNOWN_RUN"}
        assert bob.client.delete(f"/api/runs/{run_id}").status_code == 404
        trace, polled, stopped = asked_by(operator)
        assert (trace.json()["status"], trace.json()["watchers"]) == ("running", 1)
        assert b"So far" in polled.content
        assert stopped.json() == {"run_id": run_id, "stopped": True, "status": "cancelled"}
        assert b'"status":"cancelled"' in b"".join(chunks)
