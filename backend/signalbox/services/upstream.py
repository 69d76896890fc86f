"""UpstreamClient: asks OpenRouter, or any OpenAI-compatible server, once; it never retries."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import NoReturn, Self

import httpx

from signalbox.core.bounds.offload_thresholds import LARGE
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.messages import JsonObject, weight_of
from signalbox.core.parts import Bill, Fault, Request, Served, StreamPart
from signalbox.core.ports import Emit, OnHead
from signalbox.offload import offloaded
from signalbox.services.http.client import ask
from signalbox.services.http.request import Form
from signalbox.services.http.response_reader import Hearing, rest, served_by, whole
from signalbox.wire.json_text import loads
from signalbox.wire.json_weight import MOST_IN_A_LIST_OF_MODELS
from signalbox.wire.openrouter.account import Account, account_of
from signalbox.wire.openrouter.errors import error_of_response
from signalbox.wire.openrouter.generation import bill_of_generation
from signalbox.wire.openrouter.request import body_of

# Fewer characters of a key than this tell nothing.
_TELLING = 8
_MOST_OF_AN_ERROR = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Upstream:
    """Where to ask and as whom. `base_url` holds everything before `/chat/completions`."""

    base_url: str
    api_key: str | None = None
    referer: str | None = None
    title: str | None = None

    @property
    def is_openrouter(self) -> bool:
        """OpenRouter's path says that the server speaks OpenRouter's extensions too."""
        return self.base_url.rstrip("/").endswith("/api/v1")

    def headers(self) -> dict[str, str]:
        """Return the headers of every request; the only place that the key goes to."""
        headers = {"content-type": "application/json"}
        if self.api_key:
            headers["authorization"] = f"Bearer {self.api_key}"
        if self.is_openrouter:
            headers["x-openrouter-metadata"] = "enabled"
            if self.referer:
                headers["http-referer"] = self.referer
            if self.title:
                headers["x-openrouter-title"] = self.title
        return headers


class UpstreamClient:
    """The ChatClient of the app."""

    def __init__(self, client: httpx.AsyncClient, upstream: Upstream) -> None:
        self._client = client
        self._upstream = upstream
        self._base = upstream.base_url.rstrip("/")
        self._is_routed = upstream.is_openrouter
        self._headers = upstream.headers()
        self._to_complete = self._form(self._headers)
        self._to_stream = self._form({**self._headers, "accept": "text/event-stream"})

    def _form(self, headers: dict[str, str]) -> Form:
        """Build a request once: putting its address and headers together costs more than sending it."""
        request = self._client.build_request("POST", self._url("/chat/completions"), headers=headers)
        if request.url.username and not self._upstream.api_key:
            next(httpx.BasicAuth(request.url.username, request.url.password).sync_auth_flow(request))
        return Form(request)

    async def stream(self, request: Request, emit: Emit[list[StreamPart]], on_head: OnHead | None = None) -> None:
        """Hand over one list of parts per network read; cancelling this ends the request. Raises UpstreamError."""
        with _Failures(self._hide_key) as failures:
            answer = await self._asked(request, self._to_stream, stream=True)
            try:
                failures.has_answer = True
                served = await self._begin(answer, on_head)
                await Hearing(answer, served, emit, self._hide_key).run()
            finally:
                await answer.aclose()

    async def complete(self, request: Request, on_head: OnHead | None = None) -> list[StreamPart]:
        """Return the parts of one whole answer. Raises UpstreamError."""
        with _Failures(self._hide_key) as failures:
            answer = await self._asked(request, self._to_complete, stream=False)
            try:
                failures.has_answer = True
                served = await self._begin(answer, on_head)
                return self._safe(whole(await rest(answer.aiter_bytes()), served))
            finally:
                await answer.aclose()

    async def _asked(self, request: Request, form: Form, *, stream: bool) -> httpx.Response:
        """Post a request; its body is not kept in memory while the answer streams."""
        body = partial(body_of, request, stream=stream, routed=self._is_routed)
        return await ask(self._client, form, await offloaded(body, size=weight_of(request.messages, LARGE)))

    async def models(self) -> list[JsonObject]:
        """Return the catalogue: the entries of `/models` that have an id. Raises UpstreamError."""
        entries = (await self._get("/models")).get("data")
        known = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
        return [entry for entry in known if isinstance(entry.get("id"), str) and entry["id"]]

    async def account(self) -> Account:
        """Return what OpenRouter tells about the key. Raises UpstreamError."""
        data = (await self._get("/key")).get("data")
        return account_of(data if isinstance(data, dict) else {})

    async def generation(self, generation_id: str) -> JsonObject:
        """Return what one generation really cost. Raises UpstreamError."""
        data = (await self._get("/generation", {"id": generation_id})).get("data")
        return data if isinstance(data, dict) else {}

    async def bill(self, generation_id: str) -> Bill | None:
        """Return the same, read; None while it has no figures yet. Raises UpstreamError."""
        return bill_of_generation(await self.generation(generation_id))

    async def _get(self, path: str, params: dict[str, str] | None = None) -> JsonObject:
        with _Failures(self._hide_key) as failures:
            async with self._client.stream("GET", self._url(path), params=params, headers=self._headers) as answer:
                failures.has_answer = True
                await self._begin(answer, None)
                body = await rest(answer.aiter_bytes(), most_values=MOST_IN_A_LIST_OF_MODELS)
        try:
            value = await offloaded(partial(loads, body), size=len(body))
        except ValueError:  # no JSON, or nested too deeply to be written again
            value = None
        if not isinstance(value, dict):
            raise UpstreamError(Code.UPSTREAM_PROTOCOL, f"The upstream's answer at {path} is not a JSON object.")
        return value

    def _url(self, path: str) -> str:
        return self._base + path

    async def _begin(self, answer: httpx.Response, on_head: OnHead | None) -> Served:
        """Raise what an answer that is no success means; tell and return what the head of any other says of it."""
        if not answer.is_success:
            await self._refuse(answer)
        served = served_by(answer)
        if on_head is not None:
            on_head(served)
        return served

    async def _refuse(self, answer: httpx.Response) -> NoReturn:
        """Raise what an answer that is no success means."""
        if answer.is_redirect:
            words = "The upstream returned a redirect; check OPENROUTER_BASE_URL."
            raise UpstreamError(Code.UPSTREAM_PROTOCOL, words, retryable=False)
        try:
            body = await rest(answer.aiter_bytes(), _MOST_OF_AN_ERROR)
        except UpstreamError:
            body = b""  # no error takes so many words: its status says enough
        raise error_of_response(answer.status_code, body, answer.headers)

    def _safe(self, parts: list[StreamPart]) -> list[StreamPart]:
        """Keep the key out of errors that came inside a 200 as well."""
        for part in parts:
            if type(part) is Fault:
                self._hide_key(part.error)
        return parts

    def _hide_key(self, error: UpstreamError) -> None:
        """Take the key out of a sentence, also one that was shortened in the middle of it."""
        key = self._upstream.api_key
        if not key:
            return
        message = error.message.replace(key, "…")
        for length in range(len(key) - 1, _TELLING, -1):
            message = message.replace(key[:length] + "…", "…")
        error.message = message


class _Failures:
    """A block in which httpx's exceptions become ours, and the key is kept out of every sentence (quirk G4).

    `has_answer`: whether the answer had begun when it broke. A class, for `contextmanager` costs a generator each time.
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
            case httpx.TimeoutException():
                raise _timed_out(error) from None
            case httpx.NetworkError() | httpx.RemoteProtocolError():
                raise _broken(error, has_answer=self.has_answer) from None
            case httpx.HTTPError():
                raise UpstreamError(
                    Code.UPSTREAM_UNREACHABLE, f"The request failed ({type(error).__name__})."
                ) from None
            case _:
                pass


def _timed_out(error: httpx.TimeoutException) -> UpstreamError:
    match error:
        case httpx.ConnectTimeout():
            return UpstreamError(Code.UPSTREAM_UNREACHABLE, "The upstream did not accept a connection in time.")
        case httpx.PoolTimeout():
            return UpstreamError(Code.UPSTREAM_OVERLOADED, "Too many requests to the upstream are active.")
        case _:
            return UpstreamError(Code.UPSTREAM_STALLED)


def _broken(error: httpx.TransportError, *, has_answer: bool) -> UpstreamError:
    if has_answer:
        return UpstreamError(Code.STREAM_CUT)
    if isinstance(error, httpx.RemoteProtocolError):
        return UpstreamError(Code.UPSTREAM_PROTOCOL, "The upstream's response is not HTTP, or broke off at its start.")
    return UpstreamError(Code.UPSTREAM_UNREACHABLE)
