"""A run's events, without gaps and without repetitions."""

import time
from collections import deque
from collections.abc import Iterator
from types import TracebackType
from typing import Self

import httpx

from signalbox_client._sync.server import Server
from signalbox_client.answers import Answer, answer_of
from signalbox_client.bodies import StoppedRun
from signalbox_client.errors import SignalboxError, address, foreign, rejection
from signalbox_client.events import Done, Event
from signalbox_client.retries import BROKEN, Backoff, Failures, Frames, lost

# Leaving a block does not wait for a server that is away: its restart ends the run.
_LEAVING = Backoff(attempts=3)


class Run:
    """A run on the server. `Run` is a context manager and an iterator over events.

    After a broken connection or a restart of the server, the iterator resumes the stream. Inside the `with`
    block, `id` is the id of the run. If the run belongs to a conversation, `conversation_id` and `message_id` are set.
    """

    def __init__(
        self, server: Server, first: httpx.Request, *, cursor: str = "", stops_on_leaving: bool = False
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
        self._pieces: Iterator[bytes] | None = None
        self._pending: deque[Event] = deque()
        self._read: list[Event] = []
        self._is_over = False

    def __enter__(self) -> Self:
        self._open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
        if self._is_over or not self._stops_on_leaving:
            return
        try:
            self._server.json("POST", self._stop_path, backoff=_LEAVING)
        except SignalboxError as problem:
            if error is None:
                raise
            error.add_note(f"The run {self.id} was not stopped: {problem}")

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Event:
        while not self._pending:
            if self._is_over:
                raise StopIteration
            self._receive()
        self._read.append(self._pending.popleft())
        return self._read[-1]

    def answer(self) -> Answer:
        """Read the run to its end, and return an answer that contains the content of all received events."""
        for _ in self:
            pass
        return answer_of(self._read, self.id, self.conversation_id, self.message_id)

    def stop(self) -> StoppedRun:
        """Stop the run, from any thread. The last event is then a `Done`, usually with the status `cancelled`."""
        return self._server.json("POST", self._stop_path)

    @property
    def _stop_path(self) -> str:
        return f"/api/runs/{self.id}/stop"

    def _receive(self) -> None:
        """Read some events; after a cut, resume."""
        if self._pieces is None:
            self._open()
            return
        try:
            piece = next(self._pieces)
        except (StopIteration, *BROKEN) as error:
            self._close()
            time.sleep(self._failures.delay(lost(self._request, error)))
            return
        events = list(self._frames.feed(piece))
        if events:
            self._failures.reset()
            self._pending.extend(events)
            self._is_over = any(isinstance(event, Done) for event in events)

    def _open(self) -> None:
        """Connect: to the question's run, or to the rest of its events."""
        while self._pieces is None and not self._is_over:
            if self._frames.cursor:
                self._request.headers["last-event-id"] = self._frames.cursor
            try:
                self._response = self._server.http.send(self._request, stream=True)
                if not self._response.is_success:
                    self._response.read()
            except BROKEN as error:
                problem: SignalboxError = lost(self._request, error)
            else:
                if self._response.is_success:
                    self._accept(self._response)
                    return
                problem = rejection(self._response)
            self._close()
            time.sleep(self._failures.delay(problem))

    def _accept(self, response: httpx.Response) -> None:
        if response.status_code == 204 and self._frames.cursor:  # no event follows the cursor
            self._is_over = True
            return
        if "x-chat-contract" not in response.headers:
            self._close()
            raise foreign(response)
        self._failures.is_resuming = True
        self.id = response.headers.get("x-run-id", self.id)
        self.conversation_id = response.headers.get("x-conversation-id", self.conversation_id)
        self.message_id = response.headers.get("x-message-id", self.message_id)
        self._pieces = response.iter_bytes()

    def _close(self) -> None:
        self._frames.restart()
        self._pieces = None
        if self._response is not None:
            response, self._response = self._response, None
            response.close()
