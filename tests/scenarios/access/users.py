"""An app that requires a token, its users, and resources that each user has created."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import time
from typing import Any

import httpx
from signalbox.core.security.api_tokens import Token, new_token
from signalbox.store.tokens import add_token

from tests.support.running_app import WAIT, RunningApp, settings_for
from tests.support.stream_reader import check_stream

FILE = "index.html"
ACCESS, ADMIN = "letmein-letmein", "operator-operator"


def create_token(app: RunningApp, name: str, seconds: float | None = None) -> tuple[Token, str]:
    """Create a token as the command does; return it and its text."""
    token, text = new_token(name, time(), seconds)
    app.within(app.parts.database.write(add_token, token))
    return token, text


def bearer(text: str) -> dict[str, str]:
    """Return the Authorization header for a token."""
    return {"authorization": f"Bearer {text}".strip()}


@dataclass
class User:
    """A user with a token, which the client sends; `resources` are the ids of what the user owns."""

    name: str
    owner: str
    client: httpx.Client
    is_operator: bool = False
    resources: dict[str, str] = field(default_factory=dict[str, str])

    def ask(self, prompt: str = "Hello!", headers: dict[str, str] | None = None, **body: Any) -> httpx.Response:
        asked = {"model": "openai/sim", "prompt": prompt, "tools": [], **body}
        response = self.client.post("/api/chat/stream", json=asked, headers=headers)
        assert response.status_code == 200, response.text
        check_stream(response.content)
        return response

    def listed(self, what: str, **params: str | int) -> list[dict[str, Any]]:
        response = self.client.get(f"/api/{what}", params=params)
        assert response.status_code == 200, response.text
        return response.json()[what]


@dataclass
class UserApp:
    """An app and its users; `guest` has the access token."""

    app: RunningApp
    people: dict[str, User]

    def __getitem__(self, name: str) -> User:
        return self.people[name]


@contextmanager
def serve_users(data: Path, **settings: Any) -> Iterator[UserApp]:
    """Serve an app with an access token, an operator and two users with API tokens."""
    made = settings_for(data, signalbox_access_token=ACCESS, signalbox_admin_token=ADMIN, **settings)
    with RunningApp(made) as app, ExitStack() as stack:
        tokens = {name: create_token(app, name) for name in ("ada", "bob")}
        people = {
            "guest": ("", ACCESS),
            "operator": ("", ADMIN),
            **{name: (token.id, text) for name, (token, text) in tokens.items()},
        }

        def user(name: str, owner: str, text: str) -> User:
            client = httpx.Client(base_url=app.url, timeout=WAIT, trust_env=False, headers=bearer(text), verify=False)
            return User(name, owner, stack.enter_context(client), is_operator=name == "operator")

        yield UserApp(app, {name: user(name, *given) for name, given in people.items()})


def create_resources(user: User) -> None:
    """Create one of each as a user: a run, a conversation with an answer and a file, a save."""
    run_id = user.ask().headers["x-run-id"]
    answer = user.ask("What is the tool loop?", conversation_id=f"talk-of-{user.name}")
    saved = user.client.post("/api/saves", json={"run_id": run_id, "title": f"Of {user.name}"})
    assert saved.status_code == 200, saved.text
    written = user.client.put(f"/api/conversations/talk-of-{user.name}/files/{FILE}", content=b"<p>")
    assert written.status_code == 200, written.text
    user.resources = {
        "run_id": run_id,
        "conversation_id": f"talk-of-{user.name}",
        "answer_id": answer.headers["x-run-id"],
        "save_id": saved.json()["id"],
    }
