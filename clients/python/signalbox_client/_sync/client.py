"""Questions to a server."""

import uuid
from datetime import date
from typing import Any, Literal, Self, Unpack

import httpx

from signalbox_client._sync.conversations import Conversations
from signalbox_client._sync.run import Run
from signalbox_client._sync.runs import Runs
from signalbox_client._sync.saves import Saves
from signalbox_client._sync.server import Server
from signalbox_client.answers import Answer
from signalbox_client.base_url import base_url
from signalbox_client.bodies import Question, Spend
from signalbox_client.errors import checked_header, foreign
from signalbox_client.queries import spend_query
from signalbox_client.retries import Backoff

# A stream pings every 15 seconds, so that a silent connection is a broken one.
_TIMEOUT = httpx.Timeout(10.0, connect=5.0, read=60.0)


GroupBy = Literal["day", "owner", "model", "group"]


class Signalbox:
    """A client of a Signalbox server.

    `token` is an access token or an API token. The token determines what the client may read. `http` is an httpx client
    with your own proxies, certificates or timeouts. This class does not close the httpx client.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        token: str | None = None,
        *,
        backoff: Backoff | None = None,
        http: httpx.Client | None = None,
    ) -> None:
        self._http = http or httpx.Client(timeout=_TIMEOUT)
        self._closes = http is None
        self._server = Server(self._http, base_url(url), token, backoff or Backoff())
        self.conversations = Conversations(self._server)
        self.runs = Runs(self._server)
        self.saves = Saves(self._server)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        if self._closes:
            self._http.close()

    def stream(
        self, prompt: str | None = None, *, idempotency_key: str | None = None, **question: Unpack[Question]
    ) -> Run:
        """Ask a question. Open the returned run with `with`, and iterate over its events.

        If your program leaves the block while the run is active, the client stops the run, unless `on_disconnect` is
        `continue`. If you repeat the question with the same `idempotency_key`, you get the same run, even in another
        process.
        """
        body: dict[str, Any] = {name.removesuffix("_"): value for name, value in question.items()}
        if prompt is not None:
            body["prompt"] = prompt
        stops = body.get("on_disconnect", "stop") == "stop"
        # On the server, `stop` would end the run with the first broken connection.
        body["on_disconnect"] = "continue"
        headers = {"idempotency-key": checked_header("idempotency_key", idempotency_key or str(uuid.uuid4()))}
        asked = self._server.request("POST", "/api/chat/stream", body=body, headers=headers)
        return Run(self._server, asked, stops_on_leaving=stops)

    def ask(
        self, prompt: str | None = None, *, idempotency_key: str | None = None, **question: Unpack[Question]
    ) -> Answer:
        """Ask a question and return the complete answer.

        If the run does not end as `complete`, raise `RunFailed`, which contains the text so far.
        """
        with self.stream(prompt, idempotency_key=idempotency_key, **question) as run:
            return (run.answer()).raise_for_status()

    def models(self) -> list[dict[str, Any]]:
        """Return the models of the server, except hidden models."""
        return (self._server.json("GET", "/api/models", "models", params={"hidden": "false"}))["models"]

    def tools(self) -> list[dict[str, Any]]:
        """Return the tools of the server."""
        return (self._server.json("GET", "/api/tools", "tools"))["tools"]

    def spend(
        self, group_by: GroupBy = "day", *, from_: str | date | None = None, to: str | date | None = None
    ) -> Spend:
        """Return what runs have cost. With the operator token, the costs of all owners are included.

        `from_` and `to` are the first and the last UTC day, such as `2026-11-28`. The default is this month until
        today.
        """
        return self._server.json("GET", "/api/spend", "rows", params=spend_query(group_by, from_, to))

    def spend_csv(
        self, group_by: GroupBy = "day", *, from_: str | date | None = None, to: str | date | None = None
    ) -> str:
        """Return the rows of `spend` as CSV."""
        query = {**spend_query(group_by, from_, to), "format": "csv"}
        response = self._server.send("GET", "/api/spend", params=query)
        if not response.headers.get("content-type", "").startswith("text/csv"):
            raise foreign(response)
        return response.text
