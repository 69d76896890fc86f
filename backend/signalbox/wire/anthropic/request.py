"""Writes a Request as the JSON body of a message.

The fields that stay the same over a run come first and the messages last, so a request begins with the bytes of the
one before it, up to the new messages.
"""

from signalbox.core.messages import JsonObject
from signalbox.core.params import Choice, ForcedTool, Params
from signalbox.core.parts import Request, ToolSchema
from signalbox.wire.anthropic.messages import system_of, turns_of
from signalbox.wire.anthropic.models import ModelTraits, traits_of
from signalbox.wire.anthropic.thinking import thinking_for, without_thinking
from signalbox.wire.json_text import dumps

_MARK: JsonObject = {"type": "ephemeral"}
# Sampling that is rejected while the model thinks: "`temperature` may only be set to 1 when thinking is enabled".
_SAMPLING = ("temperature", "top_p", "top_k")
# The API accepts temperatures up to 1; other APIs go up to 2.
_HIGHEST_TEMPERATURE = 1.0
# Fields of the API without a neutral name; it rejects a request with any other field.
_FURTHER = ("service_tier", "inference_geo", "speed", "container", "context_management", "mcp_servers")
_SUPPORTED = frozenset({"parallel", "max_tokens", "stop", "reasoning", *_SAMPLING})
_SCHEMA = "json_schema"
_FORCED = ("any", "tool")


def body_of(request: Request, *, stream: bool) -> bytes:
    """Write the body."""
    params, traits = request.params, traits_of(request.model)
    max_tokens = params.max_tokens or _default_limit(params, traits)
    body: JsonObject = {"model": request.model, "max_tokens": max_tokens, "stream": stream}
    system, messages = system_of(request.messages)
    turns = turns_of(messages)
    tools = [_tool(tool) for tool in request.tools]
    if traits.is_claude and not _has_mark([*tools, *system], turns):
        _mark(tools, system, body)
    choice = _choice(request.tool_choice, params.parallel) if tools else None
    thinking = thinking_for(params.reasoning, traits, max_tokens, messages)
    if choice is not None and choice["type"] in _FORCED:
        # 400 "Thinking may not be enabled when tool_choice forces tool use." (quirk B6). Sonnet 5.5, Opus 5.5 and
        # Fable reject every forced call (Anthropic's migration guides).
        if traits.thinks_by_default and traits.off != "disabled":
            choice = {**choice, "type": "auto"}
            choice.pop("name", None)
        else:
            thinking = without_thinking(traits) if traits.thinks_by_default else {}
    _add_params(params, thinking, body, samples=traits.samples)
    if tools:
        body["tools"] = [*tools]
    if choice is not None:
        body["tool_choice"] = choice
    if system:
        body["system"] = [*system]
    body["messages"] = [*turns]
    return dumps(body)


def unsupported_params(params: Params) -> frozenset[str]:
    """Return the set fields of `Params` that are not sent."""
    sent = set(_SUPPORTED)
    if params.reasoning is not None and params.reasoning.enabled is not False and params.reasoning.effort != "none":
        sent.difference_update(_SAMPLING)
    if params.temperature is not None:
        sent.discard("top_p")  # 400 from Claude 4.1 on: "`temperature` and `top_p` cannot both be specified"
    if params.metadata is not None and set(params.metadata) <= {"user_id"}:
        sent.add("metadata")
    if _schema_of(params.format) is not None or (params.format or {}).get("type") == "text":
        sent.add("format")
    return frozenset(params.set_fields()) - sent


def _default_limit(params: Params, traits: ModelTraits) -> int:
    """Return a limit for a caller that sets none; a reasoning budget comes on top of it."""
    budget = params.reasoning.max_tokens if params.reasoning is not None and traits.budgets else None
    return traits.max_tokens + (budget or 0)


def _mark(tools: list[JsonObject], system: list[JsonObject], body: JsonObject) -> None:
    """Let the provider cache the tools, the instructions and the conversation so far.

    The field of the body marks the last block of the conversation. A mark on the block itself would change its bytes
    in the next request.
    """
    for blocks in (tools, system):
        if blocks:
            blocks[-1] = {**blocks[-1], "cache_control": _MARK}
    body["cache_control"] = _MARK


def _has_mark(blocks: list[JsonObject], turns: list[JsonObject]) -> bool:
    """Whether the caller has marked what to cache: four marks are the most that the API accepts."""
    contents = [turn["content"] for turn in turns]
    in_turns = [block for content in contents if isinstance(content, list) for block in content]
    return any(isinstance(block, dict) and "cache_control" in block for block in [*blocks, *in_turns])


def _add_params(params: Params, fields: JsonObject, body: JsonObject, *, samples: bool) -> None:
    thinking, effort = fields.get("thinking"), fields.get("effort")
    thinks = isinstance(thinking, dict) and thinking.get("type") in ("enabled", "adaptive")
    if thinking is not None:
        body["thinking"] = thinking
    config: JsonObject = {"effort": effort} if effort is not None else {}
    if (schema := _schema_of(params.format)) is not None:
        config["format"] = {"type": _SCHEMA, "schema": schema}
    if config:
        body["output_config"] = config
    if samples and not thinks:
        _add_sampling(params, body)
    if stops := [stop for stop in params.stop or () if stop.strip()]:  # 400 for a blank one
        body["stop_sequences"] = [*stops]
    user = (params.metadata or {}).get("user_id") or params.extra.get("user")
    if isinstance(user, str) and user:
        body["metadata"] = {"user_id": user}
    body.update({name: value for name in _FURTHER if (value := params.extra.get(name)) is not None})


def _add_sampling(params: Params, body: JsonObject) -> None:
    if params.temperature is not None:
        body["temperature"] = min(params.temperature, _HIGHEST_TEMPERATURE)
    elif params.top_p is not None:
        body["top_p"] = params.top_p
    if params.top_k is not None:
        body["top_k"] = params.top_k


def _schema_of(format_: JsonObject | None) -> JsonObject | None:
    """Return the schema of a response format; the API has no format for JSON without a schema."""
    if format_ is None or format_.get("type") != _SCHEMA:
        return None
    inner = format_.get(_SCHEMA)
    schema = inner.get("schema") if isinstance(inner, dict) else None
    return schema if isinstance(schema, dict) else None


def _choice(choice: Choice | None, parallel: bool | None) -> JsonObject | None:
    """Return the tool choice; it also says whether the model may make several calls at once."""
    if choice == "none":
        return {"type": "none"}
    if isinstance(choice, ForcedTool):
        written: JsonObject = {"type": "tool", "name": choice.name}
    elif choice is not None or parallel is not None:
        written = {"type": "any" if choice == "required" else "auto"}
    else:
        return None
    return {**written, "disable_parallel_tool_use": not parallel} if parallel is not None else written


def _tool(tool: ToolSchema) -> JsonObject:
    written: JsonObject = {"name": tool.name}
    if tool.description:
        written["description"] = tool.description
    # 400 "input_schema.type: Field required".
    written["input_schema"] = tool.parameters if "type" in tool.parameters else {"type": "object", **tool.parameters}
    if tool.strict is not None:
        written["strict"] = tool.strict
    return written
