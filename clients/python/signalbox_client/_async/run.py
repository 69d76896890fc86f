"""A run's events, without gaps and without repetitions."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Self

import httpx

from signalbox_client._async.server import AsyncServer
from signalbox_client.answers import Answer, answer_of
from signalbox_client.bodies import StoppedRun
from signalbox_client.errors import SignalboxError, address, foreign, rejection
from signalbox_client.events import Done, Event
from signalbox_client.retries import BROKEN, Backoff, Failures, Frames, lost

# Leaving a block does not wait for a server that is away: its restart ends the run.
_LEAVING = Backoff(attempts=3)


class AsyncRun:
    """A run on the server. `AsyncRun` is an asynchronous context manager and an iterator over events.

    After a broken connection or a restart of the server, the iterator resumes the stream. Inside the `async with`
    block, `id` is the id of the run. If the run belongs to a conversation, `conversation_id` and `message_id` are set.
    """

    def __init__(
        self, server: AsyncServer, first: httpx.Request, *, cursor: str = "", stops_on_leaving: bool = False
    ) -> None:
        self.id = ""
        self.conversation_id: str | None = None
        self.message_id: str | None = None
        self._server = server
        self._request = first
        self._stops_on_leaving = stops_on_leaving
        self._frames = Frames(address(first.url), cursor)
        self._failures = Failures(server.backoff)
        self._response: httpx.Response | None = None
        self._pieces: AsyncIterator[bytes] | None = None
        self._pending: deque[Event] = deque()
        self._read: list[Event] = []
        self._is_over = False

    async def __aenter__(self) -> Self:
        await self._open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close()
        if self._is_over or not self._stops_on_leaving:
            return
        try:
            await self._server.json("POST", self._stop_path, backoff=_LEAVING)
        except SignalboxError as problem:
            if error is None:
                raise
            error.add_note(f"The run {self.id} was not stopped: {problem}")

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        while not self._pending:
            if self._is_over:
                raise StopAsyncIteration
            await self._receive()
        self._read.append(self._pending.popleft())
        return self._read[-1]

    async def answer(self) -> Answer:
        """Read the run to its end, and return an answer that contains the content of all received events."""
        async for _ in self:
            pass
        return answer_of(self._read, self.id, self.conversation_id, self.message_id)

    async def stop(self) -> StoppedRun:
        """Stop the run, from any task. The last event is then a `Done`, usually with the status `cancelled`."""
        return await self._server.json("POST", self._stop_path)

    @property
    def _stop_path(self) -> str:
        return f"/api/runs/{self.id}/stop"

    async def _receive(self) -> None:
        """Read some events; after a cut, resume."""
        if self._pieces is None:
            await self._open()
            return
        try:
            piece = await anext(self._pieces)
        except (StopAsyncIteration, *BROKEN) as error:
            await self._close()
            await asyncio.sleep(self._failures.delay(lost(self._request, error)))
            return
        events = list(self._frames.feed(piece))
        if events:
            self._failures.reset()
            self._pending.extend(events)
            self._is_over = any(isinstance(event, Done) for event in events)

    async def _open(self) -> None:
        """Connect: to the question's run, or to the rest of its events."""
        while self._pieces is None and not self._is_over:
            if self._frames.cursor:
                self._request.headers["last-event-id"] = self._frames.cursor
            try:
                self._response = await self._server.http.send(self._request, stream=True)
                if not self._response.is_success:
                    await self._response.aread()
            except BROKEN as error:
                problem: SignalboxError = lost(self._request, error)
            else:
                if self._response.is_success:
                    await self._accept(self._response)
                    return
                problem = rejection(self._response)
            await self._close()
            await asyncio.sleep(self._failures.delay(problem))

    async def _accept(self, response: httpx.Response) -> None:
        if response.status_code == 204 and self._frames.cursor:  # no event follows the cursor
            self._is_over = True
            return
        if "x-chat-contract" not in response.headers:
            await self._close()
            raise foreign(response)
        self._failures.is_resuming = True
        self.id = response.headers.get("x-run-id", self.id)
        self.conversation_id = response.headers.get("x-conversation-id", self.conversation_id)
        self.message_id = response.headers.get("x-message-id", self.message_id)
        self._pieces = response.aiter_bytes()

    async def _close(self) -> None:
        self._frames.restart()
        self._pieces = None
        if self._response is not None:
            response, self._response = self._response, None
            await response.aclose()
