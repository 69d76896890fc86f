"""The dialect of Anthropic's Messages API."""

from collections.abc import Mapping

from signalbox.core.catalog import ModelFacts
from signalbox.core.errors import UpstreamError
from signalbox.core.messages import JsonObject
from signalbox.core.params import Params
from signalbox.core.parts import Request, Served, StreamPart
from signalbox.wire.anthropic.blocks import described
from signalbox.wire.anthropic.catalog import LIST, entries_of, facts_of, next_page_of
from signalbox.wire.anthropic.decoder import NAME, MessageStreamDecoder, parts_of_body
from signalbox.wire.anthropic.errors import error_of_response
from signalbox.wire.anthropic.models import listed_id
from signalbox.wire.anthropic.request import body_of, unsupported_params
from signalbox.wire.dialect import Dialect, Lookup, Upstream
from signalbox.wire.stream_decoder import StreamDecoder

_VERSION = "2023-06-01"


class AnthropicMessages(Dialect):
    """Claude models, and models of other providers that serve the same API below `/anthropic`."""

    name = NAME
    base_path = "/anthropic"
    separates_calls = True  # each call is a separate block
    models = Lookup(LIST, entries_of, next_page_of)

    def headers_of(self, upstream: Upstream) -> dict[str, str]:
        """Return the key, and the version of the API."""
        key = {"x-api-key": upstream.api_key} if upstream.api_key else {}
        return {**key, "anthropic-version": _VERSION}

    def path_of(self, model: str, *, stream: bool) -> str:
        """Return the path, which is the same for all models."""
        return "/v1/messages"

    def body_of(self, request: Request, *, stream: bool) -> bytes:
        """Write the body."""
        return body_of(request, stream=stream)

    def unsupported_params(self, params: Params) -> frozenset[str]:
        """Return the parameters that the API does not have, or rejects together with others."""
        return unsupported_params(params)

    def stream_decoder(self, served: Served | None = None) -> StreamDecoder:
        """Return a decoder for events up to `message_stop`."""
        return MessageStreamDecoder(served)

    def parts_of_body(self, body: bytes, served: Served | None = None) -> list[StreamPart]:
        """Return the parts of a whole message."""
        return parts_of_body(body, served)

    def error_of_response(self, status: int, body: bytes, headers: Mapping[str, str]) -> UpstreamError:
        """Read the `error` object, or only the status."""
        return error_of_response(status, body, headers)

    def facts_of(self, entry: JsonObject) -> ModelFacts | None:
        """Read an entry of the list of models."""
        return facts_of(entry)

    def listed_id(self, model: str) -> str | None:
        """Return the dated id of an alias such as `claude-haiku-4-5`."""
        return listed_id(model)

    def describe_native(self, items: tuple[JsonObject, ...]) -> JsonObject:
        """Describe the content blocks of an answer."""
        return described(items)
