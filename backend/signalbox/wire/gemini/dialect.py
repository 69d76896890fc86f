"""The dialect of Google's Gemini API."""

from collections.abc import Mapping
from urllib.parse import quote

from signalbox.core.catalog import ModelFacts
from signalbox.core.errors import UpstreamError
from signalbox.core.messages import JsonObject
from signalbox.core.params import Params
from signalbox.core.parts import Request, Served, StreamPart
from signalbox.wire.dialect import Dialect, Lookup, Upstream
from signalbox.wire.gemini.catalog import LIST, entries_of, facts_of, next_page_of
from signalbox.wire.gemini.decoder import NAME, GeminiStreamDecoder, parts_of_body
from signalbox.wire.gemini.description import described_parts
from signalbox.wire.gemini.errors import error_of_response
from signalbox.wire.gemini.generation_config import UNSUPPORTED
from signalbox.wire.gemini.request import body_of
from signalbox.wire.stream_decoder import StreamDecoder


class Gemini(Dialect):
    """Gemini models behind generateContent."""

    name = NAME
    # The paths of the API contain its version, so its base URL ends with the host.
    base_path = "//generativelanguage.googleapis.com"
    models = Lookup(LIST, entries_of, next_page_of)

    def headers_of(self, upstream: Upstream) -> dict[str, str]:
        """Return the API key. As a parameter of the URL, it would be in logs."""
        return {"x-goog-api-key": upstream.api_key} if upstream.api_key else {}

    def path_of(self, model: str, *, stream: bool) -> str:
        """Return the path, which names the model and the method. Without `alt=sse`, a stream is a JSON array."""
        method = "streamGenerateContent?alt=sse" if stream else "generateContent"
        return f"/v1beta/models/{quote(model.removeprefix('models/'), safe='')}:{method}"

    def body_of(self, request: Request, *, stream: bool) -> bytes:
        """Write the body; usage is always reported."""
        return body_of(request)

    def unsupported_params(self, params: Params) -> frozenset[str]:
        """Return the parameters that the API does not have."""
        return UNSUPPORTED.intersection(params.set_fields())

    def stream_decoder(self, served: Served | None = None) -> StreamDecoder:
        """Return a decoder for `data:` frames."""
        return GeminiStreamDecoder(served)

    def parts_of_body(self, body: bytes, served: Served | None = None) -> list[StreamPart]:
        """Return the parts of a whole answer."""
        return parts_of_body(body, served)

    def error_of_response(self, status: int, body: bytes, headers: Mapping[str, str]) -> UpstreamError:
        """Read the `error` object, or only the status."""
        return error_of_response(status, body, headers)

    def image_options(self, aspect_ratio: str | None) -> JsonObject:
        """Return the aspect ratio."""
        return {"generationConfig": {"imageConfig": {"aspectRatio": aspect_ratio}}} if aspect_ratio is not None else {}

    def describe_native(self, items: tuple[JsonObject, ...]) -> JsonObject:
        """Return the signatures, and the parts of server tools."""
        return described_parts(items)

    def facts_of(self, entry: JsonObject) -> ModelFacts | None:
        """Read an entry of `/v1beta/models`."""
        return facts_of(entry)
