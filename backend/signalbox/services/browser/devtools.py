"""Chrome's DevTools protocol over a pipe: JSON messages that end with a zero byte."""

import asyncio
from collections.abc import Callable
from itertools import count

import orjson

from signalbox.core.messages import JsonObject

OnEvent = Callable[[str, JsonObject], None]


class BrowserEndedError(Exception):
    """The browser ended or closed its pipe."""


class CommandError(Exception):
    """The browser rejected a command."""


class DevTools:
    """A connection to a browser. `on_event` is called with the name and parameters of each event of a session."""

    def __init__(self, reader: asyncio.StreamReader, write: Callable[[bytes], None]) -> None:
        self._reader = reader
        self._write = write
        self._ids = count(1)
        self._waiting: dict[int, asyncio.Future[JsonObject]] = {}
        self._listeners: dict[str, OnEvent] = {}
        self._has_ended = False
        self._reading = asyncio.create_task(self._read(), name="browser")

    async def send(self, method: str, session: str = "", **params: object) -> JsonObject:
        """Send a command and return its result; raises BrowserEndedError, CommandError."""
        if self._has_ended:
            raise BrowserEndedError
        number = next(self._ids)
        answered: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answered
        message = {"id": number, "method": method, "params": params} | ({"sessionId": session} if session else {})
        try:
            self._write(orjson.dumps(message) + b"\0")
            return await answered
        finally:
            del self._waiting[number]

    def listen(self, session: str, on_event: OnEvent) -> None:
        """Call this function with the events of a session."""
        self._listeners[session] = on_event

    async def aclose(self) -> None:
        """Stop reading."""
        self._reading.cancel()
        await asyncio.wait({self._reading})

    async def _read(self) -> None:
        try:
            while True:
                self._handle(orjson.loads((await self._reader.readuntil(b"\0"))[:-1]))
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError, ValueError):
            return  # the browser ended, or does not speak the protocol
        finally:
            self._has_ended = True
            for answered in self._waiting.values():
                if not answered.done():
                    answered.set_exception(BrowserEndedError())

    def _handle(self, message: JsonObject) -> None:
        number, method, session = message.get("id"), message.get("method"), message.get("sessionId")
        params, result, error = message.get("params"), message.get("result"), message.get("error")
        if isinstance(number, int):
            answered = self._waiting.get(number)
            if answered is None or answered.done():
                return
            if error is not None:
                answered.set_exception(CommandError(str(error)[:200]))
            else:
                answered.set_result(result if isinstance(result, dict) else {})
        elif isinstance(method, str) and isinstance(session, str) and session in self._listeners:
            self._listeners[session](method, params if isinstance(params, dict) else {})
