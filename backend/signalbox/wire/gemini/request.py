"""Writes a Request as the JSON body of generateContent."""

import re

from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.params import Choice, ForcedTool
from signalbox.core.parts import Request, ToolSchema
from signalbox.wire.gemini.contents import contents_of, system_instruction_of
from signalbox.wire.gemini.generation_config import generation_config_of, has_levels
from signalbox.wire.json_text import dumps

# "Developer instruction is not enabled for models/gemma-3-27b-it" (rig#788, adk-python#3900).
_NO_INSTRUCTION = re.compile(r"gemma-[1-3]\b|gemma-3n")
_MODES = {"auto": "AUTO", "none": "NONE", "required": "ANY"}


def body_of(request: Request) -> bytes:
    """Write the body, the same for streamed and whole answers.

    The conversation comes last, so that the body of the next request of a tool loop begins with the same bytes. Extra
    parameters are fields of the body. Google's own tools and further settings are added to those of the request.
    """
    body: JsonObject = {}
    extra = dict(request.params.extra)
    takes_instruction = _NO_INSTRUCTION.search(request.model) is None
    if takes_instruction and (instruction := system_instruction_of(request.messages)) is not None:
        body["systemInstruction"] = instruction
    declared: list[JsonValue] = [_declaration(tool) for tool in request.tools]
    tools: list[JsonValue] = [{"functionDeclarations": declared}] if declared else []
    server_tools = extra.pop("tools", None)
    if tools := [*tools, *(server_tools if isinstance(server_tools, list) else ())]:
        body["tools"] = tools
    if declared and request.tool_choice is not None:
        body["toolConfig"] = {"functionCallingConfig": _calling(request.tool_choice), **_popped(extra, "toolConfig")}
    config = generation_config_of(request.params, request.model) | _popped(extra, "generationConfig")
    if config:
        body["generationConfig"] = config
    body.update(extra)
    body["contents"] = contents_of(
        request.messages, signs_calls=has_levels(request.model), with_instructions=not takes_instruction
    )
    return dumps(body)


def _popped(extra: JsonObject, key: str) -> JsonObject:
    """Take an object out of the extra parameters."""
    value = extra.pop(key, None)
    return value if isinstance(value, dict) else {}


def _calling(choice: Choice) -> JsonObject:
    if isinstance(choice, ForcedTool):
        return {"mode": "ANY", "allowedFunctionNames": [choice.name]}
    return {"mode": _MODES[choice]}


def _declaration(tool: ToolSchema) -> JsonObject:
    """Write a tool. `parametersJsonSchema` takes JSON Schema; `parameters` would take only a subset (quirk C10)."""
    schema: JsonValue = tool.parameters
    return {"name": tool.name, "description": tool.description, "parametersJsonSchema": schema}
