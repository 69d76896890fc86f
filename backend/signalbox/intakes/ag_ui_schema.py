"""The JSON body of AG-UI 1.0 (`RunAgentInput`), as pydantic models.

The client sends its whole history each time. Only the end of it is read, so earlier messages are any objects. Fields
that later versions of the protocol add are accepted.
"""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from signalbox.intakes.page_requests import MOST_TOOLS, CamelModel, ClientId, ToolName
from signalbox.intakes.threads import ThreadId
from signalbox.intakes.v1_schema import MOST_MESSAGES, MOST_PARTS, JsonObject, JsonValue

_MOST_CONTEXTS = 1_000


class AgentMessage(CamelModel):
    """A message of the history. Its content is read by its role."""

    id: ClientId
    role: Literal["developer", "system", "user", "assistant", "tool", "reasoning", "activity"]


class TextMessage(CamelModel):
    """Instructions of the page's developer."""

    content: str


class TextPart(CamelModel):
    """A piece of text."""

    type: Literal["text"]
    text: str


class DataSource(CamelModel):
    """Base64 data."""

    type: Literal["data"]
    value: str
    mime_type: Annotated[str, StringConstraints(pattern=r"^[\w.+-]+/[\w.+-]+$")]


class UrlSource(CamelModel):
    """An http(s) or data URL."""

    type: Literal["url"]
    value: Annotated[str, StringConstraints(pattern=r"^(https?://|data:)")]


Source = Annotated[DataSource | UrlSource, Field(discriminator="type")]


class MediaPart(CamelModel):
    """An image or a document."""

    type: Literal["image", "document"]
    source: Source
    metadata: JsonValue = None


Part = Annotated[TextPart | MediaPart, Field(discriminator="type")]
Content = str | Annotated[list[Part], Field(min_length=1, max_length=MOST_PARTS)]


class UserMessage(CamelModel):
    """What the user wrote."""

    content: Content


class ToolResult(CamelModel):
    """The result of a call that the client has executed; `error` is why there is none."""

    tool_call_id: ClientId
    content: str | Annotated[list[TextPart], Field(max_length=MOST_PARTS)]
    error: str | None = None


class AgUiTool(CamelModel):
    """A tool that the client executes; `parameters` is JSON Schema."""

    name: ToolName
    description: str = ""
    parameters: JsonObject | None = None


class Context(CamelModel):
    """Information for the model beside the conversation."""

    description: str
    value: str


class RunAgentInput(CamelModel):
    """A request to run an agent. `forwardedProps` may have any parameter of POST /api/chat, such as model and tools."""

    thread_id: ThreadId
    run_id: ClientId
    protocol_version: str | None = None
    parent_run_id: ClientId | None = None
    state: JsonValue = None
    messages: Annotated[list[JsonObject], Field(max_length=MOST_MESSAGES)]
    tools: Annotated[list[AgUiTool], Field(max_length=MOST_TOOLS)] | None = None
    context: Annotated[list[Context], Field(max_length=_MOST_CONTEXTS)] | None = None
    forwarded_props: JsonValue = None
    resume: list[JsonValue] | None = None
