"""The dialect of the Responses API."""

from collections.abc import Mapping

from signalbox.core.catalog import ModelFacts
from signalbox.core.errors import UpstreamError
from signalbox.core.messages import JsonObject
from signalbox.core.params import Params
from signalbox.core.parts import Request, Served, StreamPart
from signalbox.wire.dialect import Dialect, Lookup, Upstream
from signalbox.wire.openai_responses.decoder import NAME, ResponseDecoder, parts_of_body
from signalbox.wire.openai_responses.describe import describe_items
from signalbox.wire.openai_responses.errors import error_of_response
from signalbox.wire.openai_responses.models import facts_of
from signalbox.wire.openai_responses.request import FIELDS_WITHOUT_PLACE, body_of, unsupported_params
from signalbox.wire.openrouter.catalog import entries_of
from signalbox.wire.stream_decoder import StreamDecoder


class OpenAIResponses(Dialect):
    """The Responses API without server-side state: the conversation and its reasoning are sent with each request."""

    name = NAME
    usual_path = "/v1"
    models = Lookup("/models", entries_of)

    def headers_of(self, upstream: Upstream) -> dict[str, str]:
        """Return the API key as a bearer token."""
        return {"authorization": f"Bearer {upstream.api_key}"} if upstream.api_key else {}

    def path_of(self, model: str, *, stream: bool) -> str:
        """Return the path, which is the same for all models."""
        return "/responses"

    def body_of(self, request: Request, *, stream: bool) -> bytes:
        """Write the body; usage comes without being asked for."""
        return body_of(request, stream=stream)

    def unsupported_params(self, params: Params) -> frozenset[str]:
        """Return the sampling parameters that the API dropped, OpenRouter's parameters, and a budget of reasoning."""
        return unsupported_params(params)

    def stream_decoder(self, served: Served | None = None) -> StreamDecoder:
        """Return a decoder for typed events up to a terminal one."""
        return ResponseDecoder(served)

    def parts_of_body(self, body: bytes, served: Served | None = None) -> list[StreamPart]:
        """Return the parts of a response object."""
        return parts_of_body(body, served)

    def error_of_response(self, status: int, body: bytes, headers: Mapping[str, str]) -> UpstreamError:
        """Read the `error` object, or only the status."""
        return error_of_response(status, body, headers)

    def facts_of(self, entry: JsonObject) -> ModelFacts | None:
        """Read an entry of `/models`; for OpenAI's models, the id says what they accept."""
        return facts_of(entry, FIELDS_WITHOUT_PLACE)

    def describe_native(self, items: tuple[JsonObject, ...]) -> JsonObject:
        """Return the kinds of items and the server tools."""
        return describe_items(items)
