"""Writes a Request as the JSON body of generateContent."""

from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.params import Choice, ForcedTool
from signalbox.core.parts import Request, ToolSchema
from signalbox.wire.gemini.contents import contents_of, system_instruction_of
from signalbox.wire.gemini.generation_config import generation_config_of, has_levels
from signalbox.wire.json_text import dumps

_MODES = {"auto": "AUTO", "none": "NONE", "required": "ANY"}


def body_of(request: Request) -> bytes:
    """Write the body, the same for streamed and whole answers.

    The conversation comes last, so that the body of the next request of a tool loop begins with the same bytes.
    """
    body: JsonObject = {}
    instruction = system_instruction_of(request.messages)
    if instruction is not None:
        body["systemInstruction"] = instruction
    if request.tools:
        body["tools"] = [{"functionDeclarations": [_declaration(tool) for tool in request.tools]}]
        if request.tool_choice is not None:
            body["toolConfig"] = {"functionCallingConfig": _calling(request.tool_choice)}
    if config := generation_config_of(request.params, request.model):
        body["generationConfig"] = config
    body.update(request.params.extra)
    body["contents"] = contents_of(request.messages, signs_calls=has_levels(request.model))
    return dumps(body)


def _calling(choice: Choice) -> JsonObject:
    if isinstance(choice, ForcedTool):
        return {"mode": "ANY", "allowedFunctionNames": [choice.name]}
    return {"mode": _MODES[choice]}


def _declaration(tool: ToolSchema) -> JsonObject:
    """Write a tool. `parametersJsonSchema` takes JSON Schema; `parameters` would take only a subset (quirk C10)."""
    schema: JsonValue = tool.parameters
    return {"name": tool.name, "description": tool.description, "parametersJsonSchema": schema}
