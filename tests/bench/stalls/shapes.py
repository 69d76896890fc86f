"""The registry of hostile shapes: names, and functions that send about a given number of bytes to a server."""

import http.client
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import orjson

from tests.bench.loads import CHAT

# Seconds after which a shape fails.
TIMEOUT = 150
_READ = 1 << 16
_TAIL = 4000


@dataclass(frozen=True, slots=True)
class Target:
    """The server under test."""

    port: int

    def send(self, method: str, path: str, body: bytes | None = None, **headers: str) -> str:
        """Send a request, read the entire response, and return its status and error code or run status."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        try:
            connection.request(method, path, body, {"content-type": "application/json", **headers})
            answer = connection.getresponse()
            tail = b""
            while piece := answer.read(_READ):
                tail = (tail + piece)[-_TAIL:]
            return f"{answer.status} {_ending(tail)}".strip()
        finally:
            connection.close()

    def ask(self, body: dict[str, Any], **headers: str) -> str:
        """Ask a question."""
        return self.send("POST", CHAT, orjson.dumps({"model": "bench/fast-1", **body}), **headers)


def _ending(tail: bytes) -> str:
    for mark in (b'"code":"', b'"status":"'):
        if mark in tail:
            return tail.rpartition(mark)[2].partition(b'"')[0].decode()
    return ""


Drive: TypeAlias = Callable[[Target, int], str]


@dataclass(frozen=True, slots=True)
class Shape:
    """Hostile input. `drive(target, size)` sends about `size` bytes to the server and returns the outcome.

    `prepare(target, size)` runs before and is not measured.
    """

    name: str
    drive: Drive
    prepare: Drive | None = None


SHAPES: dict[str, Shape] = {}


def shape(name: str, *, prepare: Drive | None = None) -> Callable[[Drive], Drive]:
    """Register a function as a shape."""

    def registered(drive: Drive) -> Drive:
        if name in SHAPES:
            raise ValueError(f"there are two shapes {name}")
        SHAPES[name] = Shape(name, drive, prepare)
        return drive

    return registered
