"""Requests of the page protocols, and a shop on a socket whose answers a test holds back."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from tests.scenarios.assistant_ui.page import message
from tests.support.running_app import WAIT
from tests.support.web_server import json_reply

MODEL = "openai/sim"
Json = dict[str, Any]


@dataclass(frozen=True)
class PageProtocol:
    """A client protocol of pages: its path, and a request with one message of the user."""

    name: str
    path: str
    ask: Callable[[str, str], Json]


def _assistant(text: str, thread: str) -> Json:
    return {"model": MODEL, "threadId": thread, "commands": [message(text, parentId=None)]}


def _ag_ui(text: str, thread: str) -> Json:
    messages = [{"id": f"{thread}-m1", "role": "user", "content": text}]
    own = {"threadId": thread, "runId": "run-1", "protocolVersion": "1.0", "state": {}}
    return {**own, "messages": messages, "tools": [], "context": [], "forwardedProps": {"model": MODEL}}


def _ai_sdk(text: str, thread: str) -> Json:
    messages = [{"id": f"{thread}-m1", "role": "user", "parts": [{"type": "text", "text": text}]}]
    return {"id": thread, "model": MODEL, "messages": messages, "trigger": "submit-message"}


DATA_STREAM = PageProtocol("assistant-ui, data stream", "/assistant/data-stream", _assistant)
TRANSPORT = PageProtocol("assistant-ui, transport", "/assistant/transport", _assistant)
AG_UI = PageProtocol("AG-UI", "/agui", _ag_ui)
AI_SDK = PageProtocol("AI SDK", "/api/ai/chat", _ai_sdk)
PAGES = (DATA_STREAM, TRANSPORT, AG_UI, AI_SDK)

MAPPING = """
about = "a shop"
url = "http://127.0.0.1:{port}/search?q={{query}}"
currency = "EUR"
[fields]
title = "name"
url = "link"
price = "price"
"""
MUGS = [{"name": "Red mug", "link": "/red", "price": 1500}, {"name": "Blue mug", "link": "/blue", "price": 900}]


class HeldShop:
    """A product API that accepts one search and answers when the test says so."""

    def __init__(self, listener: socket.socket, folder: Path) -> None:
        self._listener = listener
        self.settings: Json = {"product_json": folder / "shop.toml"}
        self.settings["product_json"].write_text(MAPPING.format(port=listener.getsockname()[1]))

    def accept(self) -> Self:
        """Wait until a search arrives."""
        self._connection, _ = self._listener.accept()
        self._connection.settimeout(WAIT)
        self._connection.recv(65_536)
        return self

    def answer(self) -> None:
        """Answer the search with two products."""
        with self._connection:
            self._connection.sendall(json_reply(MUGS))

    def wait_until_left(self) -> None:
        """Wait until the server has closed the connection."""
        with self._connection:
            assert self._connection.recv(1) == b""


@contextmanager
def held_shop(folder: Path) -> Iterator[HeldShop]:
    """Listen on loopback until the block ends."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(WAIT)
        yield HeldShop(listener, folder)
