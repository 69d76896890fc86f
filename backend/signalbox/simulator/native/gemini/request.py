"""Checks a request as Gemini's API does, and returns it as the simulator's own `Incoming`."""

from dataclasses import dataclass
from typing import Any

import orjson
from starlette.requests import Request

from ...catalog import row_of
from ...completion import estimate_tokens
from ...http.incoming import Incoming, parse_request
from ...json_values import as_list, as_object
from ..endpoint import Asked
from ..prompt_cache import Block
from .contents import Content, check_order, messages_of, parse_content, parse_contents, text_of_parts
from .errors import GeminiError, invalid, violation, wrong_type
from .fields import field, names_only, snake
from .generation import neutral_settings
from .model_ids import is_gemini_3, neutral_id
from .schemas import tools_of
from .thoughts import check_signatures

_BODY = (
    "model contents tools toolConfig safetySettings systemInstruction generationConfig cachedContent labels "
    "serviceTier store"
)
_VERSIONS = ("v1", "v1beta")
_MODES = ("MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED")
_CACHED = ("system_instruction", "tools")
_NO_KEY = (
    "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other "
    "form of API consumer identity to call this API."
)


@dataclass(frozen=True, slots=True)
class GeminiRequest(Asked):
    """A checked request, with what only Gemini's API has."""

    model: str
    shows_thoughts: bool
    streams_arguments: bool
    is_sse: bool
    """Whether the stream has the format `alt=sse`; otherwise it is a JSON array."""


def accept_request(request: Request, value: object) -> GeminiRequest:
    """Return a request; raises GeminiError."""
    if not (request.headers.get("x-goog-api-key") or request.query_params.get("key")):
        raise GeminiError(403, _NO_KEY)
    method = str(request.path_params["method"])
    if method not in ("generateContent", "streamGenerateContent"):
        raise GeminiError(404, "Requested entity was not found.")
    return parse(
        str(request.path_params["model"]),
        value,
        stream=method == "streamGenerateContent",
        version=version_of(request),
        is_sse=request.query_params.get("alt") == "sse",
    )


def parse(model: str, value: object, *, stream: bool, version: str, is_sse: bool = True) -> GeminiRequest:
    """Check a body; `value` is JSON of any shape, or None if it is not JSON."""
    name = neutral_id(model, method="streamGenerateContent" if stream else "generateContent", version=version)
    body = as_object(value)
    if not body:
        raise violation("", "Invalid JSON payload received. Unexpected token.\n\n^")
    names_only(body, _BODY, "")
    contents = parse_contents(body.get("contents"))
    check_order(contents)
    config = as_object(field(body, "generationConfig"))
    incoming = parse_request({"model": name, **_neutral(model, body, config, contents), "stream": stream})
    check_signatures(model, contents)
    _fits(incoming)
    calling = as_object(field(as_object(field(body, "toolConfig")), "functionCallingConfig"))
    return GeminiRequest(
        body=body,
        incoming=incoming,
        model=model,
        shows_thoughts=field(as_object(field(config, "thinkingConfig")), "includeThoughts") is True,
        streams_arguments=field(calling, "streamFunctionCallArguments") is True,
        is_sse=is_sse,
    )


def _neutral(model: str, body: dict[str, Any], config: dict[str, Any], contents: list[Content]) -> dict[str, Any]:
    """Return the request in chat completions' words, except for its model and whether it is streamed."""
    tools = tools_of(body)
    settings = neutral_settings(model, config)
    choice, offered = _tool_choice(body, tools)
    if tools and settings.get("response_format") and not is_gemini_3(model):
        raise invalid("Function calling with a response mime type: 'application/json' is unsupported")
    messages = [*_system(body), *messages_of(contents)]
    calling = {"tools": offered, "tool_choice": choice} if offered else {}
    return {"messages": messages, **settings, **calling}


def _system(body: dict[str, Any]) -> list[dict[str, Any]]:
    given = field(body, "systemInstruction")
    if given is None:
        return []
    content = parse_content(given, 0, "system_instruction")
    return [{"role": "system", "content": text_of_parts(content.parts)}]


def _tool_choice(body: dict[str, Any], tools: list[dict[str, Any]]) -> tuple[Any, list[dict[str, Any]]]:
    """Return the choice in chat completions' words, and the tools that may be called."""
    settings = as_object(field(body, "toolConfig"))
    names_only(settings, "functionCallingConfig retrievalConfig includeServerSideToolInvocations", "tool_config")
    where = "tool_config.function_calling_config"
    calling = as_object(field(settings, "functionCallingConfig"))
    names_only(calling, "mode allowedFunctionNames streamFunctionCallArguments", where)
    mode = calling.get("mode") or "AUTO"
    if mode not in _MODES:
        kind = "type.googleapis.com/google.ai.generativelanguage.v1beta.FunctionCallingConfig.Mode"
        raise wrong_type(f"{where}.mode", kind, mode)
    allowed = as_list(field(calling, "allowedFunctionNames"))
    if mode == "ANY" and not tools:
        raise invalid("Function calling config is set without function_declarations.")
    if allowed and mode not in ("ANY", "VALIDATED"):
        raise invalid("Please set allowed_function_names only when function calling mode is ANY.")
    names = [tool["function"]["name"] for tool in tools]
    unknown = [name for name in allowed if name not in names]
    if unknown:
        raise invalid(f"allowed_function_names contains {unknown[0]}, which is not in function_declarations.")
    offered = [tool for tool in tools if not allowed or tool["function"]["name"] in allowed]
    if mode == "ANY" and len(allowed) == 1:
        return {"type": "function", "function": {"name": allowed[0]}}, offered
    return {"ANY": "required", "NONE": "none"}.get(mode, "auto"), offered


def _fits(incoming: Incoming) -> None:
    size = estimate_tokens(orjson.dumps([incoming.body["messages"], incoming.body.get("tools")]).decode())
    limit = row_of(incoming.model).context
    if size > limit:
        raise invalid(f"The input token count ({size}) exceeds the maximum number of tokens allowed ({limit}).")


def version_of(request: Request) -> str:
    """Return the version of the API, which is part of the path; raises GeminiError."""
    version = str(request.path_params["version"])
    if version not in _VERSIONS:
        raise GeminiError(404, "Requested entity was not found.")
    return version


def token_count(request: Request, value: object) -> dict[str, Any]:
    """Return the tokens of the prompt in a `countTokens` request, which may wrap a whole request."""
    body = as_object(value)
    model, version = str(request.path_params["model"]), version_of(request)
    asked = parse(model, field(body, "generateContentRequest") or body, stream=False, version=version)
    total = sum(estimate_tokens(block.text.decode()) for block in prompt_blocks(asked))
    return {"totalTokens": total, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": total}]}


def prompt_blocks(asked: GeminiRequest) -> list[Block]:
    """Return the prompt in blocks; implicit caching may begin after each."""
    head = {name: value for name, value in asked.body.items() if snake(name) in _CACHED}
    contents = as_list(asked.body.get("contents"))
    return [Block(orjson.dumps(part, option=orjson.OPT_SORT_KEYS), breakpoint=True) for part in (head, *contents)]
