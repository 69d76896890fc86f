"""Writes a Request as the JSON body of a response."""

from hashlib import blake2b

from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.params import FIELDS, Choice, ForcedTool, Params, Reasoning
from signalbox.core.parts import Request, ToolSchema
from signalbox.wire.json_text import dumps
from signalbox.wire.openai_models import SAMPLING, reasons, samples
from signalbox.wire.openai_responses.fields import object_of
from signalbox.wire.openai_responses.messages import items_of

# Parameters that the API has, and their names.
_KEYS = {
    "parallel": "parallel_tool_calls",
    "max_tokens": "max_output_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "top_logprobs": "top_logprobs",
    "metadata": "metadata",
}
# Options of chat completions that are part of `text` here.
_OF_TEXT = ("verbosity",)
# Further parameters of the client that are not sent under their name.
_NOT_SENT = ("input", *_OF_TEXT)
# Parameters that are written in another form.
_WRITTEN = ("logprobs", "format", "reasoning")
# OpenAI rejects a longer `prompt_cache_key`: "string too long. Expected a string with maximum length 64".
_LONGEST_CACHE_KEY = 64


def body_of(request: Request, *, stream: bool) -> bytes:
    """Write the body.

    The upstream stores nothing (`store`), and returns reasoning encrypted, so that it can be sent back. `input` comes
    last: up to the new items, the bytes of a request are those of the one before, and the prompt is cached.
    """
    params = request.params
    body: JsonObject = {"model": request.model, "stream": stream, "store": False}
    if include := _include(request.model, params):
        body["include"] = include
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
        if request.tool_choice is not None:
            body["tool_choice"] = _choice(request.tool_choice)
    takes_sampling = samples(request.model, params.reasoning)
    for name in params.set_fields():
        if (key := _KEYS.get(name)) is not None and (takes_sampling or name not in SAMPLING):
            body[key] = getattr(params, name)
    if params.reasoning is not None and reasons(request.model):
        body["reasoning"] = _reasoning(params.reasoning)
    if text := _text(params):
        body["text"] = text
    if request.session_id:
        body["prompt_cache_key"] = _cache_key(request.session_id)
    # `store` and what else is set above are not the client's to change.
    body.update((name, value) for name, value in params.extra.items() if name not in body and name not in _NOT_SENT)
    body["input"] = list[JsonValue](items_of(request.messages))
    return dumps(body)


FIELDS_WITHOUT_PLACE = frozenset(FIELDS) - _KEYS.keys() - set(_WRITTEN)
"""The fields of `Params` that the API does not have."""


def unsupported_params(params: Params) -> frozenset[str]:
    """Return the set parameters that the API does not have; for reasoning, it has an effort, but no token budget."""
    unsupported = FIELDS_WITHOUT_PLACE.intersection(params.set_fields())
    reasoning = params.reasoning
    if reasoning is not None and reasoning.max_tokens is not None and reasoning.effort is None:
        return unsupported | {"reasoning"}
    return unsupported


def _include(model: str, params: Params) -> list[JsonValue]:
    include: list[JsonValue] = ["reasoning.encrypted_content"] if reasons(model) else []
    return (
        [*include, "message.output_text.logprobs"] if params.logprobs and samples(model, params.reasoning) else include
    )


def _tool(tool: ToolSchema) -> JsonObject:
    """Write a tool. Without `strict`, the API would make every parameter required: its default is true."""
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": tool.strict is True,
    }


def _choice(choice: Choice) -> JsonValue:
    return {"type": "function", "name": choice.name} if isinstance(choice, ForcedTool) else choice


def _reasoning(reasoning: Reasoning) -> JsonObject:
    """Write the effort, and ask for a summary unless the client wants no reasoning to be shown."""
    out: JsonObject = {}
    if reasoning.enabled is False:
        return {"effort": "none"}
    if reasoning.effort is not None:
        out["effort"] = reasoning.effort
    if not reasoning.exclude and reasoning.effort != "none":
        out["summary"] = reasoning.summary or "auto"
    return out


def _text(params: Params) -> JsonObject:
    """Write the options of the text: its format, and what chat completions have at the top of the body."""
    text: JsonObject = {} if params.format is None else {"format": _format(params.format)}
    return text | {name: params.extra[name] for name in _OF_TEXT if name in params.extra}


def _format(given: JsonObject) -> JsonObject:
    """Flatten the response format of chat completions: the Responses API has the schema in the format itself."""
    return {"type": given.get("type"), **object_of(given.get("json_schema"))}


def _cache_key(session_id: str) -> str:
    if len(session_id) <= _LONGEST_CACHE_KEY:
        return session_id
    return blake2b(session_id.encode(), digest_size=16).hexdigest()
