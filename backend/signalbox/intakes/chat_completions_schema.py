"""The JSON body of OpenAI's `POST /v1/chat/completions` with OpenRouter's fields, as pydantic models.

Fields that are not listed are forwarded to the upstream. Content and tools of an unknown kind are rejected.
"""

import re
from typing import Annotated, Any, Literal, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    model_validator,
)

from signalbox.intakes.v1_schema import (
    LONGEST_ARGUMENTS,
    MOST_CALLS,
    MOST_MESSAGES,
    MOST_PARTS,
    Effort,
    FileData,
    ImageUrl,
    JsonObject,
    ModelId,
    NamedChoice,
    ShortText,
    Text,
    Unit,
)

_MOST_TOOLS = 512
_SERVER_TOOL = re.compile(r"^signalbox:.{1,256}$")
_NO_AUDIO = "audio is not supported; send text, images or files"


class Open(BaseModel):
    """Ignores unknown fields, and rejects other types and numbers that JSON cannot hold."""

    model_config = ConfigDict(extra="ignore", strict=True, allow_inf_nan=False)


class Cacheable(Open):
    """A part with which a cached prompt may end, as OpenRouter's clients mark it for some providers."""

    cache_control: JsonObject | None = None


class ChatTextPart(Cacheable):
    """A piece of text."""

    type: Literal["text"]
    text: str


class ChatRefusalPart(Open):
    """A refusal of an earlier answer."""

    type: Literal["refusal"]
    refusal: str


class ChatImagePart(Cacheable):
    """An image by URL."""

    type: Literal["image_url"]
    image_url: "ChatImage"


class ChatImage(ImageUrl):
    """Where an image is."""

    model_config = ConfigDict(extra="ignore", strict=True)


class ChatFile(FileData):
    """A file by name and data; an id of an uploaded file means nothing here."""

    model_config = ConfigDict(extra="ignore", strict=True)

    filename: str = "file"

    @model_validator(mode="before")
    @classmethod
    def _has_data(cls, value: object) -> object:
        if isinstance(value, dict) and (fields := cast("dict[str, object]", value)).get("file_data") is None:
            if "file_id" in fields:
                raise ValueError("file_id is not supported; send the file as file_data")
            return fields
        return cast(object, value)


class ChatFilePart(Cacheable):
    """A file."""

    type: Literal["file"]
    file: ChatFile


def _readable(part: object) -> object:
    """Reject audio with a sentence that says so."""
    match part:
        case {"type": "input_audio"}:
            raise ValueError(_NO_AUDIO)
        case _:
            return part


ChatPart = Annotated[
    Annotated[ChatTextPart | ChatImagePart | ChatFilePart, Field(discriminator="type")], BeforeValidator(_readable)
]
ChatText = str | Annotated[list[ChatTextPart], Field(min_length=1, max_length=MOST_PARTS)]
ChatContent = str | Annotated[list[ChatPart], Field(min_length=1, max_length=MOST_PARTS)]
ChatAnswerPart = Annotated[ChatTextPart | ChatRefusalPart, Field(discriminator="type")]


class ChatFunctionCall(Open):
    """The function of a call; `arguments` is JSON text."""

    name: ShortText
    arguments: Annotated[str, StringConstraints(max_length=LONGEST_ARGUMENTS)] | JsonObject = ""


class ChatCall(Open):
    """A call that the model made earlier in the conversation."""

    id: Text
    type: Literal["function"] = "function"
    function: ChatFunctionCall


class ChatSystemMessage(Open):
    """Instructions."""

    role: Literal["system", "developer"]
    content: ChatText


class ChatUserMessage(Open):
    """What the person wrote."""

    role: Literal["user"]
    content: ChatContent


class ChatAssistantMessage(Open):
    """What a model answered earlier. Reasoning that a client sends is not used: nothing shows that it is genuine."""

    role: Literal["assistant"]
    content: str | Annotated[list[ChatAnswerPart], Field(max_length=MOST_PARTS)] | None = None
    refusal: str | None = None
    tool_calls: Annotated[list[ChatCall], Field(max_length=MOST_CALLS)] | None = None
    audio: None = None
    function_call: None = None


class ChatToolMessage(Open):
    """The result of a call."""

    role: Literal["tool"]
    tool_call_id: Text
    content: ChatText


ChatMessage = Annotated[
    ChatSystemMessage | ChatUserMessage | ChatAssistantMessage | ChatToolMessage, Field(discriminator="role")
]


class ChatFunction(Open):
    """A function of the client."""

    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.:-]{1,64}$")]
    description: str | None = None
    parameters: JsonObject | None = None
    strict: bool | None = None


class ChatFunctionTool(Open):
    """A tool that the client executes."""

    type: Literal["function"]
    function: ChatFunction


def _named_server_tool(kind: str) -> str:
    if _SERVER_TOOL.fullmatch(kind) is None:
        raise ValueError("must be function or signalbox:NAME; others, such as custom tools, are not supported")
    return kind


class ChatServerTool(Open):
    """A tool of this server: `signalbox:NAME`."""

    # The pattern is for the document of the API: its message would not say what is supported.
    type: Annotated[str, AfterValidator(_named_server_tool), Field(json_schema_extra={"pattern": _SERVER_TOOL.pattern})]


def _type_of(value: object) -> object:
    return cast("dict[str, object]", value).get("type") if isinstance(value, dict) else None


def _whose(tool: object) -> str:
    """Return which of both schemas a tool is checked by, so that an error names the field of that one."""
    kind = _type_of(tool)
    return "server" if isinstance(kind, str) and kind != "function" else "function"


ChatTool = Annotated[
    Annotated[ChatFunctionTool, Tag("function")] | Annotated[ChatServerTool, Tag("server")], Discriminator(_whose)
]
ChatNamedTool = Annotated[
    Annotated[NamedChoice, Tag("function")] | Annotated[ChatServerTool, Tag("server")], Discriminator(_whose)
]


class ChatAllowedTools(Open):
    """Some of the request's tools, of which the model may or must call one."""

    mode: Literal["auto", "required"]
    tools: Annotated[list[ChatNamedTool], Field(min_length=1, max_length=_MOST_TOOLS)]


class ChatAllowedChoice(Open):
    """Offer only some of the request's tools."""

    type: Literal["allowed_tools"]
    allowed_tools: ChatAllowedTools


def _kind_of_choice(choice: object) -> str:
    """Return which schema a tool choice is checked by; a type that has none is the name of a server's tool."""
    kind = _type_of(choice)
    if kind is None and not isinstance(choice, dict):
        return "word"
    return kind if isinstance(kind, str) and kind in ("function", "allowed_tools") else "server"


ChatChoice = Annotated[
    Annotated[Literal["auto", "none", "required"], Tag("word")]
    | Annotated[NamedChoice, Tag("function")]
    | Annotated[ChatAllowedChoice, Tag("allowed_tools")]
    | Annotated[ChatServerTool, Tag("server")],
    Discriminator(_kind_of_choice),
]


class ChatStreamOptions(Open):
    """Options of a stream."""

    include_usage: bool | None = None


class ChatReasoning(Open):
    """OpenRouter's: how much the model shall reason, by effort or by tokens."""

    effort: Effort | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    summary: Literal["auto", "concise", "detailed"] | None = None
    exclude: bool | None = None
    enabled: bool | None = None


def _one_choice(value: object) -> object:
    if isinstance(value, bool) or value not in (None, 1):
        raise ValueError("only one choice (n = 1) is supported; send a request for each")
    return value


def _no_audio(value: Any) -> Any:
    if value is not None:
        raise ValueError(_NO_AUDIO)
    return value


def _without_audio(modalities: list[str]) -> list[str]:
    if "audio" in modalities:
        raise ValueError(_NO_AUDIO)
    return modalities


def _no_functions(value: Any) -> Any:
    if value is not None:
        raise ValueError("is deprecated and not supported; use tools and tool_choice")
    return value


_NotSupported = Annotated[Any, BeforeValidator(_no_functions)]


class ChatCompletionRequest(BaseModel):
    """One request. `model_extra` holds the fields that are forwarded as they are."""

    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=False)

    model: ModelId
    messages: Annotated[list[ChatMessage], Field(min_length=1, max_length=MOST_MESSAGES)]
    stream: bool | None = None
    stream_options: ChatStreamOptions | None = None
    n: Annotated[Any, BeforeValidator(_one_choice)] = None
    tools: Annotated[list[ChatTool], Field(max_length=_MOST_TOOLS)] | None = None
    tool_choice: ChatChoice | None = None
    parallel_tool_calls: bool | None = None
    web_search_options: JsonObject | None = None
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    stop: Text | Annotated[list[Text], Field(max_length=16)] | None = None
    response_format: JsonObject | None = None
    reasoning: ChatReasoning | None = None
    reasoning_effort: Effort | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Unit | None = None
    top_k: Annotated[int, Field(ge=0)] | None = None
    min_p: Unit | None = None
    top_a: Unit | None = None
    frequency_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    presence_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    repetition_penalty: Annotated[float, Field(ge=0, le=2)] | None = None
    seed: int | None = None
    logprobs: bool | None = None
    top_logprobs: Annotated[int, Field(ge=0, le=20)] | None = None
    logit_bias: Annotated[dict[str, Annotated[float, Field(ge=-100, le=100)]], Field(max_length=10_000)] | None = None
    provider: JsonObject | None = None
    models: Annotated[list[ModelId], Field(min_length=1, max_length=16)] | None = None
    metadata: Annotated[dict[str, str], Field(max_length=16)] | None = None
    modalities: Annotated[list[str], AfterValidator(_without_audio)] | None = None
    audio: Annotated[Any, BeforeValidator(_no_audio)] = None
    functions: _NotSupported = None
    function_call: _NotSupported = None

    @model_validator(mode="after")
    def _fits_together(self) -> "ChatCompletionRequest":
        reasoning = self.reasoning
        if reasoning is not None and reasoning.effort is not None and reasoning.max_tokens is not None:
            raise ValueError("reasoning takes effort or max_tokens, not both")
        if reasoning is not None and self.reasoning_effort not in (None, reasoning.effort):
            raise ValueError("reasoning and reasoning_effort contradict each other; send one of them")
        return self
