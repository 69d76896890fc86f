"""The dialects of chat completions: OpenAI-compatible servers, and OpenRouter with its extensions."""

from collections.abc import Mapping

from signalbox.core.catalog import ModelFacts
from signalbox.core.errors import UpstreamError
from signalbox.core.messages import JsonObject
from signalbox.core.params import Params
from signalbox.core.parts import Request, Served, StreamPart
from signalbox.wire.dialect import Dialect, Lookup, Upstream
from signalbox.wire.openrouter.account import account_of
from signalbox.wire.openrouter.catalog import entries_of, facts_of
from signalbox.wire.openrouter.decoder import parts_of_body
from signalbox.wire.openrouter.errors import error_of_response
from signalbox.wire.openrouter.generation import bill_of
from signalbox.wire.openrouter.request import body_of
from signalbox.wire.openrouter.stream import ChatStreamDecoder
from signalbox.wire.stream_decoder import StreamDecoder

# `top_k`, `min_p` and `repetition_penalty` are no parameters of OpenAI's either, but of vLLM and llama.cpp.
_ONLY_OPENROUTER = frozenset({"top_a", "routing", "fallbacks"})


class ChatCompletions(Dialect):
    """Chat completions as OpenAI, Ollama, vLLM, llama.cpp and LM Studio serve them."""

    name = "openai-chat"
    usual_path = "/v1"
    generation_id_header = "x-generation-id"
    models = Lookup("/models", entries_of)

    def headers_of(self, upstream: Upstream) -> dict[str, str]:
        """Return the API key as a bearer token."""
        return {"authorization": f"Bearer {upstream.api_key}"} if upstream.api_key else {}

    def path_of(self, model: str, *, stream: bool) -> str:
        """Return the path, which is the same for all models."""
        return "/chat/completions"

    def body_of(self, request: Request, *, stream: bool) -> bytes:
        """Write the body, and request the usage of a stream."""
        return body_of(request, stream=stream, routed=False)

    def unsupported_params(self, params: Params) -> frozenset[str]:
        """Return OpenRouter's parameters, and reasoning that is no effort."""
        unsupported = _ONLY_OPENROUTER.intersection(params.set_fields())
        reasoning = params.reasoning
        if reasoning is not None and reasoning.effort is None and reasoning.enabled is not False:
            unsupported |= {"reasoning"}
        return unsupported

    def stream_decoder(self, served: Served | None = None) -> StreamDecoder:
        """Return a decoder for `data:` frames up to `[DONE]`."""
        return ChatStreamDecoder(served)

    def parts_of_body(self, body: bytes, served: Served | None = None) -> list[StreamPart]:
        """Return the parts of a chat completion."""
        return parts_of_body(body, served)

    def error_of_response(self, status: int, body: bytes, headers: Mapping[str, str]) -> UpstreamError:
        """Read the `error` object, or only the status."""
        return error_of_response(status, body, headers)

    def facts_of(self, entry: JsonObject) -> ModelFacts | None:
        """Read an entry of `/models`; most servers list only ids."""
        return facts_of(entry)

    def listed_id(self, model: str) -> str | None:
        """Remove a suffix that chooses the routing (`:free`, `:nitro`, `:floor`, `:online`); presets are not listed."""
        if model.startswith("@preset/"):
            return None
        base, _, suffix = model.rpartition(":")
        return base if base and suffix else model


class OpenRouter(ChatCompletions):
    """OpenRouter: sessions, application attribution, key balance and final costs."""

    name = "openrouter-chat"
    base_path = usual_path = "/api/v1"
    reports_costs = True
    account = Lookup("/key", account_of)
    bill = Lookup("/generation?id={id}", bill_of)

    def image_options(self, aspect_ratio: str | None) -> JsonObject:
        """Return the aspect ratio."""
        return {"image_config": {"aspect_ratio": aspect_ratio}} if aspect_ratio is not None else {}

    def unsupported_params(self, params: Params) -> frozenset[str]:
        """Return none: OpenRouter has them all."""
        return frozenset()

    def headers_of(self, upstream: Upstream) -> dict[str, str]:
        """Add the name and address of this application, and request routing metadata."""
        headers = {**super().headers_of(upstream), "x-openrouter-metadata": "enabled"}
        if upstream.referer:
            headers["http-referer"] = upstream.referer
        if upstream.title:
            headers["x-openrouter-title"] = upstream.title
        return headers

    def body_of(self, request: Request, *, stream: bool) -> bytes:
        """Write the body with its session; OpenRouter reports usage without being asked."""
        return body_of(request, stream=stream, routed=True)
