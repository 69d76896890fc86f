"""The interface that each upstream API (dialect) implements. Dialects are stateless and do no I/O."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from signalbox.core.catalog import ModelFacts
from signalbox.core.errors import UpstreamError
from signalbox.core.messages import JsonObject
from signalbox.core.params import Params
from signalbox.core.parts import Bill, Request, Served, StreamPart
from signalbox.wire.stream_decoder import StreamDecoder

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Upstream:
    """A server that models are called at, its dialect, and the credentials.

    `base_url` is everything before the dialect's paths. `referer` and `title` identify this application to upstreams
    that list their callers.
    """

    dialect: "Dialect"
    base_url: str
    api_key: str | None = None
    referer: str | None = None
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Account:
    """An API key's balance in USD; `left` is None if the key has no limit or the upstream reports none."""

    left: float | None = None
    spent: float | None = None


@dataclass(frozen=True, slots=True)
class Lookup(Generic[Answer]):
    """A GET request: its path below the base URL, and the function that reads its JSON object.

    `{id}` in the path is replaced by the id that is looked up. `next_path` returns the path of the page that follows a
    page of a list, None after the last one.
    """

    path: str
    read: Callable[[JsonObject], Answer]
    next_path: Callable[[JsonObject], str | None] | None = None


class Dialect(ABC):
    """One upstream API: writes requests, and reads answers, errors and the catalogue.

    `name` is what `signalbox decode --dialect` takes. `base_path`: a base URL that ends with it speaks this dialect.
    `usual_path`: how base URLs of this dialect usually end, if they do.
    `generation_id_header` names the response header, in lower case, that holds the generation's id. `reports_costs`:
    the usage of each answer has its cost. `separates_calls`: parallel calls cannot be mixed up in its answers.
    `models` reads the catalogue; each entry has a non-empty string `id`.
    `account` and `bill` are None if the upstream has no such endpoint.
    """

    name: str
    base_path: str | None = None
    usual_path: str | None = None
    generation_id_header: str | None = None
    reports_costs: bool = False
    separates_calls: bool = False
    models: Lookup[list[JsonObject]]
    account: Lookup[Account] | None = None
    bill: Lookup[Bill | None] | None = None

    @abstractmethod
    def headers_of(self, upstream: Upstream) -> dict[str, str]:
        """Return the headers of every request except `content-type` and `accept`: the key, versions, the caller."""

    @abstractmethod
    def path_of(self, model: str, *, stream: bool) -> str:
        """Return the path below the base URL, with its query, to which a request for this model is posted."""

    @abstractmethod
    def body_of(self, request: Request, *, stream: bool) -> bytes:
        """Write the JSON body of a request."""

    @abstractmethod
    def stream_decoder(self, served: Served | None = None) -> StreamDecoder:
        """Return a decoder for one streamed answer; `served` is what the response headers contain."""

    @abstractmethod
    def parts_of_body(self, body: bytes, served: Served | None = None) -> list[StreamPart]:
        """Return the parts of one whole answer; raises ValueError for a body that is not a JSON object."""

    @abstractmethod
    def error_of_response(self, status: int, body: bytes, headers: Mapping[str, str]) -> UpstreamError:
        """Return what an HTTP status other than 2xx means."""

    @abstractmethod
    def facts_of(self, entry: JsonObject) -> ModelFacts | None:
        """Read one entry of the catalogue; None for one that is not listed."""

    def unsupported_params(self, params: Params) -> frozenset[str]:
        """Return the names of the set fields of `params` that this API does not have; they are not sent."""
        return frozenset()

    def image_options(self, aspect_ratio: str | None) -> JsonObject:
        """Return the `extra` parameters of a request for an image; empty if this API has none."""
        return {}

    def listed_id(self, model: str) -> str | None:
        """Return the id under which the catalogue lists a model; None for an id that it never lists."""
        return model

    def describe_native(self, items: tuple[JsonObject, ...]) -> JsonObject:
        """Return further fields for `signalbox decode`: what the items of a `Native` turn contain."""
        return {}
