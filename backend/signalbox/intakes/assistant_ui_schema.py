"""The JSON body of assistant-ui's transport, as pydantic models.

The client spreads fields of the page over the body and adds commands that the page defines, so unknown fields and
commands are accepted. `state` is what the server streamed before: of it only the id of the thread is read.
"""

from typing import Annotated, Any, Literal, cast

from pydantic import Discriminator, Field, StringConstraints, Tag

from signalbox.intakes.page_requests import MOST_TOOLS, CamelModel
from signalbox.intakes.threads import ThreadId
from signalbox.intakes.v1_schema import Effort, JsonObject, JsonValue, ModelId, ShortText, Text

MOST_COMMANDS, MOST_PARTS = 100, 1_000


class TextPart(CamelModel):
    """A piece of text."""

    type: Literal["text"]
    text: str


class ImagePart(CamelModel):
    """The http(s) or data URL of an image."""

    type: Literal["image"]
    image: Annotated[str, StringConstraints(pattern=r"^(https?://|data:image/)")]


UserPart = Annotated[TextPart | ImagePart, Field(discriminator="type")]


class UserMessage(CamelModel):
    """What the user wrote."""

    role: Literal["user"]
    parts: Annotated[list[UserPart], Field(min_length=1, max_length=MOST_PARTS)]


class AddMessage(CamelModel):
    """A new message after `parentId`."""

    type: Literal["add-message"]
    message: UserMessage
    parent_id: str | None = None
    source_id: str | None = None


class AddToolResult(CamelModel):
    """The result of a call that the page has executed.

    `modelContent` is what the model gets instead of `result`. `artifact` is stored for people and is never sent to a
    model.
    """

    type: Literal["add-tool-result"]
    tool_call_id: ShortText
    tool_name: ShortText
    result: JsonValue = None
    artifact: JsonValue = None
    is_error: bool | None = None
    model_content: list[JsonObject] | None = None


class Reload(CamelModel):
    """The message `parentId` is answered again."""

    type: Literal["reload"]
    parent_id: Text


class SwitchBranch(CamelModel):
    """The newest branch that contains this message is shown; no run starts."""

    type: Literal["switch-branch"]
    message_id: Text


class OtherCommand(CamelModel):
    """A command that the page defines."""

    type: Text


def _kind(command: Any) -> str:
    kind = cast("dict[str, Any]", command).get("type") if isinstance(command, dict) else None
    return kind if kind in ("add-message", "add-tool-result", "reload", "switch-branch") else "other"


Command = Annotated[
    Annotated[AddMessage, Tag("add-message")]
    | Annotated[AddToolResult, Tag("add-tool-result")]
    | Annotated[Reload, Tag("reload")]
    | Annotated[SwitchBranch, Tag("switch-branch")]
    | Annotated[OtherCommand, Tag("other")],
    Discriminator(_kind),
]


ToolName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.:-]{1,64}$")]


class AssistantTool(CamelModel):
    """A tool that the page executes."""

    description: str | None = None
    parameters: JsonObject | None = None
    disabled: bool | None = None


class CallSettings(CamelModel):
    """Sampling parameters of the page's model context."""

    max_tokens: Annotated[int, Field(ge=1)] | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    top_k: Annotated[int, Field(ge=0)] | None = None
    presence_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    frequency_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    seed: int | None = None


class Config(CamelModel):
    """The model, and the names of this server's tools. A key or an address of an upstream is not used."""

    model_name: ModelId | None = None
    reasoning_effort: Effort | None = None
    tools: Annotated[list[ShortText], Field(max_length=MOST_TOOLS)] | None = None


class AssistantRequest(CallSettings):
    """The commands of one request."""

    commands: Annotated[list[Command], Field(max_length=MOST_COMMANDS)]
    state: JsonValue = None
    thread_id: ThreadId | None = None
    parent_id: str | None = None
    system: str | None = None
    tools: Annotated[dict[ToolName, AssistantTool], Field(max_length=MOST_TOOLS)] | None = None
    call_settings: CallSettings | None = None
    config: Config | None = None
    run_config: JsonObject | None = None
    model: ModelId | None = None
    reasoning_effort: Effort | None = None
    max_steps: Annotated[int, Field(ge=1, le=50)] | None = None
    max_searches: Annotated[int, Field(ge=0, le=100)] | None = None
    max_cost: Annotated[float, Field(gt=0)] | None = None
    on_disconnect: Literal["stop", "continue"] = "stop"
