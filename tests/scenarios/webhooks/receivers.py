"""A receiver of webhooks on loopback, which verifies signatures with the library of Standard Webhooks."""

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks.webhooks import Webhook

from tests.scenarios.access.users import ADMIN, bearer
from tests.support.running_app import WAIT, RunningApp

CONTINUE = {"tools": [], "on_disconnect": "continue"}


@dataclass
class Inbox:
    """What the receiver got; it answers with `status`. `secret` is set once it is registered."""

    port: int = 0
    status: int = 200
    secret: str = ""
    got: "queue.Queue[tuple[dict[str, str], bytes]]" = field(default_factory=queue.Queue)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook-canary-path"

    def raw(self) -> tuple[dict[str, str], bytes]:
        """Wait for the next request; return its headers and body."""
        return self.got.get(timeout=WAIT)

    def next(self) -> dict[str, Any]:
        """Wait for the next request; verify its signature and return the event."""
        headers, body = self.raw()
        return Webhook(self.secret).verify(body, headers)


@contextmanager
def receiver() -> Iterator[Inbox]:
    """Serve a receiver in a thread."""
    inbox = Inbox()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            self.send_response(inbox.status)
            self.send_header("content-length", "0")
            self.end_headers()
            inbox.got.put(({name.lower(): value for name, value in self.headers.items()}, body))

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    inbox.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield inbox
    finally:
        server.shutdown()
        server.server_close()
        thread.join(WAIT)


def call(app: RunningApp, method: str, path: str = "", status: int = 200, **given: Any) -> Any:
    """Call the API as the operator; check the status and return the body."""
    response = app.client.request(method, f"/api/webhooks{path}", headers=bearer(ADMIN), **given)
    assert response.status_code == status, response.text
    return response.json()


def register(app: RunningApp, inbox: Inbox, *events: str) -> str:
    """Register the receiver for these events, `run.ended` by default; return its id."""
    made = call(app, "POST", status=201, json={"url": inbox.url, "events": [*events] or ["run.ended"]})
    inbox.secret = made["secret"]
    return made["id"]
