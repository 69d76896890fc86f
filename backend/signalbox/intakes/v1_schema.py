"""The JSON body of contract v1.1's `POST /api/chat/stream`, as pydantic models."""

import re
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    StringConstraints,
    model_validator,
)
from pydantic import JsonValue as AnyJson
from pydantic_core import CoreSchema, core_schema

# Every item is validated, which takes time; a client is better served by a clear rejection than by a late answer.
MOST_MESSAGES = 10_000
MOST_PARTS = 1_000
MOST_CALLS = 512
LONGEST_ARGUMENTS = 1024 * 1024


class _AsParsed:
    """Any JSON, as it was parsed. pydantic's JsonValue would call a Python function for each value."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.any_schema()


class _ObjectAsParsed:
    """A JSON object, as it was parsed."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.custom_error_schema(core_schema.is_instance_schema(dict), "dict_type")

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": True}


JsonValue = Annotated[AnyJson, _AsParsed()]
JsonObject = Annotated[dict[str, AnyJson], _ObjectAsParsed()]

Text = Annotated[str, StringConstraints(min_length=1)]
# Names and ids: providers accept 64 characters for a tool's name, and no model's id has more than 256.
ShortText = Annotated[str, StringConstraints(min_length=1, max_length=256)]
# Not `.` or `..`: clients remove them from a URL path, so such a name could not be addressed.
NAME = r"^(\.{0,2}[A-Za-z0-9_:\-]|\.{3})[A-Za-z0-9_.:\-]*$"


def _nameable(name: str) -> str:
    if re.fullmatch(NAME, name) is None:
        raise ValueError("may contain only letters, digits, _ . : and -, and must not be . or ..")
    return name


Name = Annotated[
    str, StringConstraints(max_length=256), AfterValidator(_nameable), Field(json_schema_extra={"pattern": NAME})
]


def _listed(stop: str | list[str]) -> list[str]:
    return [stop] if isinstance(stop, str) else stop


Stop = Annotated[Text | Annotated[list[Text], Field(min_length=1, max_length=16)], AfterValidator(_listed)]
Effort = Literal["max", "xhigh", "high", "medium", "low", "minimal", "none"]
Unit = Annotated[float, Field(ge=0, le=1)]
Temperature = Annotated[float, Field(ge=0, le=2)]


def _model_id(text: str) -> str:
    """Reject an id that could pass for a model of another vendor, such as `anthropic/../openai/sim`."""
    # A leading slash is allowed: vLLM names a local model by its path.
    names = [part.rpartition("@")[2].partition(":")[0] for part in text.removeprefix("/").split("/")]
    if not text.isprintable() or " " in text or not all(name.strip(".") for name in names):
        raise ValueError(
            "must be a model id such as openai/gpt-5, without spaces, control characters, empty parts, . and .. "
            "between slashes"
        )
    return text


ModelId = Annotated[
    str,
    StringConstraints(min_length=1, max_length=256),
    AfterValidator(_model_id),
    Field(json_schema_extra={"pattern": r"^[^\s\x00-\x1f]+$"}),
]
MOST_VARIANTS = 4
# The modalities of OpenRouter that the contract can represent.
Modality = Literal["image", "text"]


class Strict(BaseModel):
    """Rejects unknown fields, other types and numbers that JSON cannot hold."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class TextPartIn(Strict):
    """A piece of text."""

    type: Literal["text"]
    text: str


class ImageUrl(Strict):
    """The http(s) or data URL of an image."""

    url: Annotated[str, StringConstraints(pattern=r"^(https?://|data:image/)")]
    detail: Literal["auto", "low", "high"] | None = None


class ImagePartIn(Strict):
    """An image."""

    type: Literal["image_url"]
    image_url: ImageUrl


class FileData(Strict):
    """A file by name and http(s) or data URL."""

    filename: Text
    file_data: Annotated[str, StringConstraints(pattern=r"^(https?://|data:)")]


class FilePartIn(Strict):
    """A file."""

    type: Literal["file"]
    file: FileData


PartIn = Annotated[TextPartIn | ImagePartIn | FilePartIn, Field(discriminator="type")]
ContentIn = str | Annotated[list[PartIn], Field(min_length=1, max_length=MOST_PARTS)]


class FunctionIn(Strict):
    """The function of a call; `arguments` is JSON text or an object."""

    name: ShortText
    arguments: Annotated[str, StringConstraints(max_length=LONGEST_ARGUMENTS)] | JsonObject = ""


class CallIn(Strict):
    """A call that a model made earlier in the conversation."""

    id: Text
    type: Literal["function"] = "function"
    function: FunctionIn
    index: int | None = None


class SystemIn(Strict):
    """Instructions."""

    role: Literal["system", "developer"]
    content: ContentIn
    name: str | None = None


class UserIn(Strict):
    """A message from the user."""

    role: Literal["user"]
    content: ContentIn
    name: str | None = None


class AssistantIn(Strict):
    """A model's turn. Reasoning that a client sends back is accepted but not used: it cannot be trusted."""

    role: Literal["assistant"]
    content: ContentIn | None = None
    tool_calls: Annotated[list[CallIn], Field(max_length=MOST_CALLS)] | None = None
    name: str | None = None
    refusal: str | None = None
    reasoning: JsonValue = None
    reasoning_content: JsonValue = None
    reasoning_details: JsonValue = None
    annotations: JsonValue = None


class ToolIn(Strict):
    """The result of a call."""

    role: Literal["tool"]
    tool_call_id: Text
    content: ContentIn
    name: str | None = None


MessageIn = Annotated[SystemIn | UserIn | AssistantIn | ToolIn, Field(discriminator="role")]


class Reasoning(Strict):
    """How much the model reasons: by effort or by tokens, not both (providers answer 400 to both)."""

    effort: Effort | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    summary: Literal["auto", "concise", "detailed"] | None = None
    exclude: bool | None = None
    enabled: bool | None = None

    @model_validator(mode="after")
    def _effort_or_tokens(self) -> "Reasoning":
        if self.effort is not None and self.max_tokens is not None:
            raise ValueError("takes effort or max_tokens, not both")
        return self


class NamedFunction(Strict):
    """The name of the tool that must be called."""

    name: ShortText


class NamedChoice(Strict):
    """Force one tool, once."""

    type: Literal["function"]
    function: NamedFunction


class ChatParameters(Strict):
    """How a model is asked, in all protocols of Signalbox. Every parameter is forwarded exactly when it is set."""

    model: ModelId
    system: str | None = None
    tools: Annotated[list[ShortText], Field(max_length=128)] | None = Field(
        default=None, description="Names of tools to offer; absent: all available ones; []: none."
    )
    tool_choice: Literal["auto", "none", "required"] | NamedChoice | None = None
    parallel_tool_calls: bool | None = None
    max_steps: Annotated[int, Field(ge=1, le=50)] | None = None
    max_searches: Annotated[int, Field(ge=0, le=100)] | None = None
    max_cost: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="What the run may cost in USD; it ends with the answer so far."
    )
    reasoning: Reasoning | None = None
    reasoning_effort: Effort | None = Field(default=None, description="Alias of reasoning.effort.")
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="Alias of max_tokens; two different values are rejected."
    )
    temperature: Temperature | None = None
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
    response_format: JsonObject | None = None
    stop: Stop | None = None
    provider: JsonObject | None = None
    models: Annotated[list[ModelId], Field(min_length=1, max_length=16)] | None = Field(
        default=None, description="Fallback models, tried by OpenRouter in this order."
    )
    metadata: Annotated[dict[str, str], Field(max_length=16)] | None = None
    user: ShortText | None = Field(default=None, description="Your id of the end user, forwarded to the provider.")
    modalities: Annotated[list[Modality], Field(min_length=1, max_length=2)] | None = Field(
        default=None, description="What the model may answer with; absent: images too from a model that draws."
    )
    finalize_hint: Annotated[str, StringConstraints(max_length=4000)] | None = None

    @model_validator(mode="after")
    def _one_effort(self) -> "ChatParameters":
        if self.reasoning is not None and self.reasoning_effort is not None:
            raise ValueError("takes reasoning or its alias reasoning_effort, not both")
        return self


class ChatRequest(ChatParameters):
    """One question to one model."""

    messages: Annotated[list[MessageIn], Field(min_length=1, max_length=MOST_MESSAGES)] | None = None
    prompt: str | None = None
    conversation_id: Name | None = None
    parent_id: Name | None = Field(
        default=None, description="The message that this one follows; absent: the newest; null: none, a new beginning."
    )
    continues: bool = Field(
        default=False,
        alias="continue",
        description="The answer parent_id goes on where it stopped, without a new message.",
    )
    column: Annotated[int, Field(ge=0, le=15)] | None = Field(
        default=None, description="Place among answers compared side by side; kept with the answer, not sent on."
    )
    on_disconnect: Literal["stop", "continue"] = "stop"
    previews: bool = Field(
        default=False, description="The stream shows files and edits while the model writes them; not with one answer."
    )
    stream: bool | None = Field(
        default=None, description="Events, or one answer at the end; absent: as the path says, /api/chat/stream or not."
    )

    @model_validator(mode="after")
    def _one_question(self) -> "ChatRequest":
        answers_again = self.prompt is None and self.parent_id is not None
        if self.continues and (self.messages is not None or self.prompt is not None):
            raise ValueError("to continue an answer, send parent_id without messages or prompt")
        if self.messages is None and not (self.continues or answers_again or (self.prompt or "").strip()):
            raise ValueError("needs messages, or a prompt that is not blank")
        if self.continues and self.system is not None:
            raise ValueError("to continue an answer, leave out system: it keeps its instructions")
        if self.messages is not None and self.prompt is not None:
            raise ValueError("takes messages or prompt, not both")
        return self


class VariantIn(Strict):
    """How one variant differs from the request."""

    model: ModelId | None = None
    reasoning: Reasoning | None = None
    temperature: Temperature | None = None


def _needs_conversation(schema: dict[str, Any]) -> None:
    schema["required"].append("conversation_id")


class VariantsRequest(ChatRequest):
    """One question in a conversation, which several runs answer. `stream` has no effect."""

    model_config = ConfigDict(json_schema_extra=_needs_conversation)

    variants: Annotated[list[VariantIn], Field(min_length=1, max_length=MOST_VARIANTS)] = Field(
        description="One run each; a field that a variant leaves out is the request's."
    )
