"""The JSON body that the AI SDK's `useChat` posts, as pydantic models: the chat, and parameters of Signalbox.

The client sends its whole chat each time. Only the end of it is read, so earlier messages are any objects.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from signalbox.intakes.threads import ThreadId
from signalbox.intakes.v1_schema import MOST_MESSAGES, MOST_PARTS, ChatParameters, JsonObject, JsonValue, Strict

MessageId = Annotated[str, StringConstraints(min_length=1, max_length=200)]
_MOST_TOOLS = 128


class UiMessage(BaseModel):
    """A message of the chat. Its parts are read by their type."""

    model_config = ConfigDict(extra="ignore", strict=True)

    id: MessageId
    role: Literal["system", "user", "assistant"]
    parts: Annotated[list[JsonObject], Field(max_length=MOST_PARTS)]


class AiSdkTool(Strict):
    """A tool that the page executes; `inputSchema` is JSON Schema."""

    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
    description: str = ""
    inputSchema: JsonObject = Field(default_factory=lambda: {"type": "object", "properties": {}})  # noqa: N815


class AiSdkRequest(ChatParameters):
    """One request of `useChat`. `trigger` and `messageId` are accepted: the messages themselves say what is asked."""

    id: ThreadId
    messages: Annotated[list[JsonObject], Field(min_length=1, max_length=MOST_MESSAGES)]
    trigger: Literal["submit-message", "regenerate-message"] = "submit-message"
    messageId: JsonValue = None  # noqa: N815
    clientTools: Annotated[tuple[AiSdkTool, ...], Field(max_length=_MOST_TOOLS, strict=False)] = ()  # noqa: N815
