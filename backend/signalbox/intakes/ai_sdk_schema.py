"""The JSON body that the AI SDK's `useChat` posts, as pydantic models: the chat, and parameters of Signalbox.

The client sends its whole chat each time. Only the end of it is read, so earlier messages are any objects.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from signalbox.core.parts import NO_PARAMETERS
from signalbox.intakes.page_requests import MOST_TOOLS, ClientId, ToolName
from signalbox.intakes.threads import ThreadId
from signalbox.intakes.v1_schema import MOST_MESSAGES, MOST_PARTS, ChatParameters, JsonObject, JsonValue, Strict


class UiMessage(BaseModel):
    """A message of the chat. Its parts are read by their type."""

    model_config = ConfigDict(extra="ignore", strict=True)

    id: ClientId
    role: Literal["system", "user", "assistant"]
    parts: Annotated[list[JsonObject], Field(max_length=MOST_PARTS)]


class AiSdkTool(Strict):
    """A tool that the page executes; `inputSchema` is JSON Schema."""

    name: ToolName
    description: str = ""
    inputSchema: JsonObject = Field(default_factory=NO_PARAMETERS.copy)  # noqa: N815


class AiSdkRequest(ChatParameters):
    """One request of `useChat`. `trigger` and `messageId` are accepted: the messages themselves say what is asked."""

    id: ThreadId
    messages: Annotated[list[JsonObject], Field(min_length=1, max_length=MOST_MESSAGES)]
    trigger: Literal["submit-message", "regenerate-message"] = "submit-message"
    messageId: JsonValue = None  # noqa: N815
    clientTools: Annotated[tuple[AiSdkTool, ...], Field(max_length=MOST_TOOLS, strict=False)] = ()  # noqa: N815
