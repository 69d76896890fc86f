"""Asks a server over HTTP with contract v1.1, and reads the files of a conversation."""

from dataclasses import dataclass
from urllib.parse import quote

import msgspec

from signalbox.core.events import LoopName
from signalbox.core.messages import JsonObject
from signalbox.encoders.v1_whole import ChatAnswer
from signalbox.services.http.client import HttpClient
from signalbox.services.http.errors import ConnectFailed, HttpError, HttpTimeout, InvalidRequest
from signalbox.services.http.request import PreparedRequest

_CONNECT_SECONDS = 10
# The server sends nothing before the run ends; `timeout` of the set is the limit.
_SILENCE = 2 * 3600.0
_LARGEST = 64 * 1024 * 1024
_RETRYABLE = frozenset({408, 425, 429, 500, 502, 503, 504})
_UNUSABLE = frozenset({401, 403})
_LONGEST_SHOWN = 500


class ServerUnusable(Exception):
    """The server cannot be used at all; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why there is no answer."""

    message: str
    code: str | None = None
    retryable: bool = False
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class _Reply:
    """A response."""

    status: int
    body: bytes
    retry_after: float | None

    @property
    def refusal(self) -> Refusal:
        """The error of the response."""
        retryable = self.status in _RETRYABLE
        try:
            error = msgspec.json.decode(self.body, type=_ErrorBody).error
        except msgspec.DecodeError:
            return Refusal(f"HTTP {self.status} without a message of Signalbox.", None, retryable, self.retry_after)
        message = error.message[:_LONGEST_SHOWN] or f"HTTP {self.status}."
        return Refusal(message, error.code or None, retryable, self.retry_after)


class _Error(msgspec.Struct):
    code: str = ""
    message: str = ""
    field: str | None = None


class _ErrorBody(msgspec.Struct):
    error: _Error


class FileEntry(msgspec.Struct, frozen=True):
    """A file of a conversation."""

    path: str
    size: int = 0
    version: int = 0


class _FileList(msgspec.Struct):
    files: list[FileEntry]


class EvalClient:
    """Sends requests to one server. Cancelling a request closes its connection, which stops the run."""

    def __init__(self, url: str, token: str | None, concurrency: int) -> None:
        self._url = url.rstrip("/")
        self._headers = {"content-type": "application/json"}
        if token:
            self._headers["authorization"] = f"Bearer {token}"
        self._http = HttpClient(
            connect_timeout=_CONNECT_SECONDS, idle_timeout=_SILENCE, max_connections=concurrency + 2
        )
        try:
            PreparedRequest("GET", self._url)
        except InvalidRequest:
            raise ServerUnusable(f"{self._url!r} is not a URL that begins with http:// or https://.") from None

    async def aclose(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def check(self) -> None:
        """Raise ServerUnusable if the server does not answer, or rejects the token."""
        try:
            reply = await self._send("GET", "/api/tools")
        except HttpError as error:
            why = "does not answer" if isinstance(error, ConnectFailed | HttpTimeout) else "answers no valid HTTP"
            raise ServerUnusable(f"The server {self._url} {why}. Start it, or check --url.") from None
        if reply.status != 200:
            raise self._unusable(reply)

    async def ask(self, body: JsonObject, loop: LoopName | None) -> ChatAnswer | Refusal:
        """Start a run and wait for its end; raises ServerUnusable if no request can succeed."""
        headers = {"x-tool-loop": loop} if loop else {}
        try:
            reply = await self._send("POST", "/api/chat", msgspec.json.encode(body), headers)
        except HttpError as error:
            return Refusal(f"The connection failed ({type(error).__name__}).", retryable=True)
        if reply.status in _UNUSABLE:
            raise self._unusable(reply)
        if reply.status != 200:
            return reply.refusal
        try:
            return msgspec.json.decode(reply.body, type=ChatAnswer)
        except msgspec.DecodeError as error:
            return Refusal(f"The server sent an unknown answer: {error}.")

    async def files(self, conversation_id: str, run_id: str) -> list[FileEntry] | Refusal:
        """Return the files of a conversation at the end of a run."""
        path = f"/api/conversations/{quote(conversation_id, safe='')}/files?node_id={quote(run_id, safe='')}"
        found = await self._get(path)
        if isinstance(found, Refusal):
            return found
        try:
            return msgspec.json.decode(found, type=_FileList).files
        except msgspec.DecodeError as error:
            return Refusal(f"The server sent an unknown list of files: {error}.")

    async def file(self, conversation_id: str, run_id: str, path: str) -> bytes | Refusal:
        """Return the content of a file at the end of a run."""
        place = f"/api/conversations/{quote(conversation_id, safe='')}/files/{quote(path)}"
        return await self._get(f"{place}?node_id={quote(run_id, safe='')}")

    async def _get(self, path: str) -> bytes | Refusal:
        try:
            reply = await self._send("GET", path)
        except HttpError as error:
            return Refusal(f"The connection failed ({type(error).__name__}).", retryable=True)
        return reply.body if reply.status == 200 else reply.refusal

    async def _send(self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None) -> _Reply:
        request = PreparedRequest(method, self._url + path, {**self._headers, **(headers or {})})
        response = await self._http.send(request, body)
        received = bytearray()
        try:
            async for data in response:
                received += data
                if len(received) > _LARGEST:
                    break  # no valid answer is so large: it fails to decode
        finally:
            await response.aclose()
        wait = response.header("retry-after") or ""
        return _Reply(response.status, bytes(received), float(wait) if wait.isdecimal() else None)

    def _unusable(self, reply: _Reply) -> ServerUnusable:
        said = reply.refusal.message
        if reply.status == 401:
            return ServerUnusable(f"The server {self._url} rejects the token: {said} Name its file with --token-file.")
        return ServerUnusable(f"The server {self._url} rejects requests (HTTP {reply.status}): {said} Check --url.")
