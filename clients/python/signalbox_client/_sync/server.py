"""Sends requests, and repeats them after broken connections and temporary rejections."""

import json
import time
from collections.abc import Generator, Iterator, Mapping
from typing import Any

import httpx

from signalbox_client.errors import SignalboxError, checked_header, foreign, rejection
from signalbox_client.retries import BROKEN, NOT_SENT, Backoff, Failures, lost


class Server:
    """One server, with the token of one owner."""

    def __init__(self, http: httpx.Client, url: str, token: str | None, backoff: Backoff) -> None:
        self.http = http
        self.backoff = backoff
        self._url = url
        self._headers = {"authorization": f"Bearer {checked_header('token', token)}"} if token else {}

    def request(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        content: str | bytes | None = None,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Request:
        sent = {**self._headers, **(headers or {})}
        try:
            return self.http.build_request(
                method, self._url + path, json=body, content=content, params=params, headers=sent
            )
        except (TypeError, ValueError, RecursionError) as error:
            words = f"The request cannot be sent: {error}. Correct the value."
            raise SignalboxError("INVALID_REQUEST", words) from error

    def send(
        self,
        method: str,
        path: str,
        *,
        repeatable: bool = True,
        stream: bool = False,
        backoff: Backoff | None = None,
        **given: Any,
    ) -> httpx.Response:
        """Return the response, with `stream` before its body is read.

        A request that is not `repeatable` is repeated only if it had no effect.
        """
        request = self.request(method, path, **given)
        failures = Failures(backoff or self.backoff)
        was_lost = False
        while True:
            try:
                response = self.http.send(request, stream=stream)
                if not response.is_success:
                    response.read()
            except BROKEN as error:
                was_lost = was_lost or not isinstance(error, NOT_SENT)
                problem: SignalboxError = lost(request, error)
                if was_lost and not repeatable:
                    raise problem from error
            else:
                if response.is_success or (method == "DELETE" and was_lost and response.status_code == 404):
                    return response
                problem = rejection(response)
            time.sleep(failures.delay(problem))

    def json(self, method: str, path: str, *fields: str, **given: Any) -> Any:
        """Return the JSON object of the response, which must have these fields."""
        response = self.send(method, path, **given)
        try:
            body: dict[str, Any] = {**response.json()}
        except (ValueError, TypeError, RecursionError) as error:
            raise foreign(response) from error
        if not body.keys() >= set(fields):
            raise foreign(response)
        return body

    def pages(self, path: str, name: str, params: Mapping[str, Any]) -> Iterator[Any]:
        """Iterate over the entries of a list, page by page."""
        before: str | None = None
        while True:
            asked = {**params, **({} if before is None else {"before": before})}
            page = self.json("GET", path, name, "next", params=asked)
            for entry in page[name]:
                yield entry
            before = page["next"]
            if before is None:
                return

    def lines(self, path: str, params: Mapping[str, Any]) -> Generator[Any]:
        """Iterate over the JSON objects of an NDJSON response, one per line."""
        response = self.send("GET", path, params=params, stream=True)
        try:
            if not response.headers.get("content-type", "").startswith("application/x-ndjson"):
                raise foreign(response)
            rest = b""
            for piece in response.iter_bytes():
                *lines, rest = (rest + piece).split(b"\n")
                for line in lines:
                    yield json.loads(line)
            if rest:
                raise lost(response.request, StopIteration())
        except BROKEN as error:
            raise lost(response.request, error) from error
        except ValueError as error:
            raise foreign(response) from error
        finally:
            response.close()
