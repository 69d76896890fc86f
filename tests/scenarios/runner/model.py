"""A scripted model: one reply per request, over HTTP on a loopback port."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from signalbox import Upstream

from tests.support.scripted_upstream import DONE, Exchange, Script, ScriptedUpstream, call_chunk, chunk, sends


@dataclass
class Model:
    """The server of a scripted model, and the upstream to give to a Runner."""

    server: ScriptedUpstream
    upstream: Upstream

    @property
    def requests(self) -> list[dict[str, Any]]:
        """The bodies of the requests so far."""
        return [asked.body for asked in self.server.asked]

    def roles(self, number: int) -> list[str]:
        """Return the roles of the messages of a request, from 1."""
        return [message["role"] for message in self.requests[number - 1]["messages"]]

    def results(self, number: int) -> list[Any]:
        """Return the tool results of a request, read as JSON."""
        messages = self.requests[number - 1]["messages"]
        return [_read(message["content"]) for message in messages if message["role"] == "tool"]


def _read(content: str) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return content


@contextmanager
def model_that(*replies: Script) -> Iterator[Model]:
    """Serve these replies in order; a further request is answered with a 400."""
    with ScriptedUpstream(*replies, refused) as server:
        yield Model(server, Upstream(server.base_url, "sk-test"))


async def refused(exchange: Exchange) -> None:
    """Answer that the request was not expected."""
    await exchange.whole(400, b'{"error":{"code":400,"message":"No reply is scripted for this request."}}')


def _usage(cost: float | None) -> dict[str, Any]:
    return {"prompt_tokens": 10, "completion_tokens": 5, **({} if cost is None else {"cost": cost})}


def answers(text: str, *, finish: str = "stop", cost: float | None = None) -> Script:
    """Reply with text."""
    return sends(chunk({"content": text}), chunk({}, finish=finish, usage=_usage(cost)) + DONE)


def calls(
    *made: tuple[str, dict[str, Any] | str], text: str = "", finish: str = "tool_calls", cost: float | None = None
) -> Script:
    """Reply with calls: pairs of a tool's name and its arguments, as an object or as text."""
    frames = [chunk({"content": text})] if text else []
    for index, (name, given) in enumerate(made):
        arguments = given if isinstance(given, str) else json.dumps(given)
        frames.append(call_chunk(name, arguments, index=index, call_id=f"call_{index}"))
    return sends(*frames, chunk({}, finish=finish, usage=_usage(cost)) + DONE)
