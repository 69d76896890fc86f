"""UpstreamClient: sends one request to an upstream, in the upstream's dialect; it never retries."""

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from types import TracebackType
from typing import NoReturn, Self, TypeVar
from urllib.parse import quote

from signalbox.core.bounds.offload_thresholds import LARGE
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.messages import JsonObject, weight_of
from signalbox.core.parts import Bill, Fault, Request, Served, StreamPart
from signalbox.core.ports import Emit, OnHead
from signalbox.offload import offloaded
from signalbox.services.http.client import HttpClient
from signalbox.services.http.errors import (
    Broken,
    ConnectFailed,
    ConnectTimeout,
    HttpError,
    HttpTimeout,
    NoProgress,
    PoolFull,
    ProtocolError,
)
from signalbox.services.http.progress import PROGRESS_TIMEOUT, ProgressLimit
from signalbox.services.http.request import PreparedRequest
from signalbox.services.http.response import Response, decoded
from signalbox.services.http.response_reader import ResponseReader, parse_whole, read_all, served_of
from signalbox.services.upstreams.credentials import LONGEST_HARMLESS, credentials_in
from signalbox.wire.dialect import Account, Lookup, Upstream
from signalbox.wire.json_text import loads
from signalbox.wire.json_weight import MOST_IN_A_LIST_OF_MODELS

_LONGEST_ERROR_BODY = 1024 * 1024
# Pages of a list of models, of up to 1,000 models each. A faulty server may name a next page without end.
_MOST_PAGES = 20
# Cached prepared requests: one per path, and a dialect may put the model into the path.
_MOST_PREPARED = 256

NO_HEADERS: Mapping[str, str] = {}

Answer = TypeVar("Answer")


class UpstreamClient:
    """The ChatClient of one upstream. `headers` are sent with every request, and replace those of the dialect.

    `progress_timeout`: an answer ends after this many seconds in which only keep-alives arrive.
    """

    def __init__(
        self,
        client: HttpClient,
        upstream: Upstream,
        headers: Mapping[str, str] = NO_HEADERS,
        *,
        progress_timeout: float = PROGRESS_TIMEOUT,
    ) -> None:
        self._client = client
        self._progress_timeout = progress_timeout
        self._upstream = upstream
        self.dialect = upstream.dialect
        self._base = upstream.base_url.rstrip("/")
        # The API key is sent only in these headers.
        self._headers = {"content-type": "application/json", **self.dialect.headers_of(upstream)}
        self._headers |= {name.lower(): value for name, value in headers.items()}
        self._secrets = [*([upstream.api_key] if upstream.api_key else []), *credentials_in(headers)]
        self._prepared = lru_cache(_MOST_PREPARED)(self._prepare)

    def _prepare(self, path: str, *, stream: bool) -> PreparedRequest:
        """Encode URL and headers once: doing it per request costs more than sending it."""
        headers = {**self._headers, "accept": "text/event-stream"} if stream else self._headers
        return PreparedRequest("POST", self._base + path, headers)

    async def stream(self, request: Request, emit: Emit[list[StreamPart]], on_head: OnHead | None = None) -> None:
        """Emit one list of parts per network read; cancelling this ends the request. Raises UpstreamError."""
        with _Failures(self._hide_key) as failures:
            answer = await self._send(request, stream=True)
            try:
                failures.has_answer = True
                served = await self._begin(answer, on_head)
                decoder = self.dialect.stream_decoder(served)
                read_whole = partial(self.dialect.parts_of_body, served=served)
                limit = ProgressLimit(self._progress_timeout)
                await ResponseReader(answer, decoder, read_whole, emit, self._hide_key, progress=limit).run()
            finally:
                await answer.aclose()

    async def complete(self, request: Request, on_head: OnHead | None = None) -> list[StreamPart]:
        """Return the parts of an answer that is not streamed. Raises UpstreamError."""
        with _Failures(self._hide_key) as failures:
            answer = await self._send(request, stream=False)
            try:
                failures.has_answer = True
                served = await self._begin(answer, on_head)
                read_whole = partial(self.dialect.parts_of_body, served=served)
                body = await read_all(decoded(answer), progress=ProgressLimit(self._progress_timeout))
                return self._safe(parse_whole(body, read_whole))
            finally:
                await answer.aclose()

    async def _send(self, request: Request, *, stream: bool) -> Response:
        """Send a request; its body is not kept in memory while the answer streams."""
        prepared = self._prepared(self.dialect.path_of(request.model, stream=stream), stream=stream)
        if request.trace_headers:
            prepared = prepared.with_headers(request.trace_headers)
        body = partial(self.dialect.body_of, request, stream=stream)
        return await self._client.send(prepared, await offloaded(body, size=weight_of(request.messages, LARGE)))

    async def models(self) -> list[JsonObject]:
        """Return the entries of the upstream's catalogue, of all its pages. Raises UpstreamError."""
        lookup = self.dialect.models
        entries: list[JsonObject] = []
        path: str | None = lookup.path
        for _ in range(_MOST_PAGES):
            page = await self._get(path)
            entries += lookup.read(page)
            path = lookup.next_path(page) if lookup.next_path is not None else None
            if path is None:
                break
        return entries

    async def account(self) -> Account | None:
        """Return the balance of the key, None if the dialect has no accounts. Raises UpstreamError."""
        lookup = self.dialect.account
        return await self._look_up(lookup) if lookup is not None else None

    async def bill(self, generation_id: str) -> Bill | None:
        """Return the cost of a generation, None while it is unknown. Raises UpstreamError."""
        lookup = self.dialect.bill
        return await self._look_up(lookup, generation_id) if lookup is not None else None

    async def _look_up(self, lookup: Lookup[Answer], key: str = "") -> Answer:
        return lookup.read(await self._get(lookup.path.replace("{id}", quote(key, safe=""))))

    async def _get(self, path: str) -> JsonObject:
        with _Failures(self._hide_key) as failures:
            answer = await self._client.send(PreparedRequest("GET", self._base + path, self._headers))
            try:
                failures.has_answer = True
                await self._begin(answer, None)
                body = await read_all(decoded(answer), most_values=MOST_IN_A_LIST_OF_MODELS)
            finally:
                await answer.aclose()
        try:
            value = await offloaded(partial(loads, body), size=len(body))
        except ValueError:  # not JSON, or nested too deeply to be encoded again
            value = None
        if not isinstance(value, dict):
            raise UpstreamError(Code.UPSTREAM_PROTOCOL, f"The upstream's answer at {path} is not a JSON object.")
        return value

    async def _begin(self, answer: Response, on_head: OnHead | None) -> Served:
        """Return facts from the headers of a success and report them to `on_head`; raises UpstreamError for others."""
        if not answer.is_success:
            await self._raise_error(answer)
        served = served_of(answer, self.dialect.generation_id_header)
        if on_head is not None:
            on_head(served)
        return served

    async def _raise_error(self, answer: Response) -> NoReturn:
        """Raise the UpstreamError that a response without success means."""
        if answer.is_redirect:
            words = "The upstream returned a redirect; check the upstream's URL."
            raise UpstreamError(Code.UPSTREAM_PROTOCOL, words, retryable=False)
        try:
            body = await read_all(decoded(answer), _LONGEST_ERROR_BODY)
        except UpstreamError:
            body = b""  # too large for an error message: the status is enough
        raise self.dialect.error_of_response(answer.status, body, answer.headers)

    def _safe(self, parts: list[StreamPart]) -> list[StreamPart]:
        """Remove the key from errors inside a 200."""
        for part in parts:
            if type(part) is Fault:
                self._hide_key(part.error)
        return parts

    def _hide_key(self, error: UpstreamError) -> None:
        """Remove key and credentials from an error message, also if the message was truncated inside one of them."""
        for secret in self._secrets:
            message = error.message.replace(secret, "…")
            for length in range(len(secret) - 1, LONGEST_HARMLESS, -1):
                message = message.replace(secret[:length] + "…", "…")
            error.message = message


class _Failures:
    """A context manager that converts HttpError to UpstreamError and removes the key from messages (quirk G4).

    `has_answer`: the response had begun. This is a class because `contextmanager` creates a generator per request.
    """

    __slots__ = ("_hide_key", "has_answer")

    def __init__(self, hide_key: Callable[[UpstreamError], None]) -> None:
        self._hide_key = hide_key
        self.has_answer = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        match error:
            case None:
                return
            case UpstreamError():
                self._hide_key(error)
            case HttpTimeout():
                raise _timed_out(error) from None
            case ConnectFailed() | Broken() | ProtocolError():
                raise _broken(error, has_answer=self.has_answer) from None
            case HttpError():
                raise UpstreamError(
                    Code.UPSTREAM_UNREACHABLE, f"The request failed ({type(error).__name__})."
                ) from None
            case _:
                pass


def _timed_out(error: HttpTimeout) -> UpstreamError:
    match error:
        case ConnectTimeout():
            return UpstreamError(Code.UPSTREAM_UNREACHABLE, "The upstream did not accept a connection in time.")
        case PoolFull():
            return UpstreamError(Code.UPSTREAM_OVERLOADED, "Too many requests to the upstream are active.")
        case NoProgress():
            return UpstreamError(
                Code.UPSTREAM_STALLED, "The provider sent only keep-alives, and no more of its answer."
            )
        case _:
            return UpstreamError(Code.UPSTREAM_STALLED)


def _broken(error: HttpError, *, has_answer: bool) -> UpstreamError:
    if has_answer:
        return UpstreamError(Code.STREAM_CUT)
    if isinstance(error, ProtocolError):
        return UpstreamError(Code.UPSTREAM_PROTOCOL, "The upstream's response is not HTTP, or broke off at its start.")
    return UpstreamError(Code.UPSTREAM_UNREACHABLE)
