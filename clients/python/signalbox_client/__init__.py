"""A client for Signalbox: `Signalbox`, or `AsyncSignalbox` for asyncio."""

from signalbox_client._async.client import AsyncSignalbox
from signalbox_client._async.run import AsyncRun
from signalbox_client._sync.client import Signalbox
from signalbox_client._sync.run import Run
from signalbox_client.answers import Answer, AnsweredCall
from signalbox_client.errors import (
    AccessDenied,
    Conflict,
    ConnectionLost,
    InvalidRequest,
    NotFound,
    NotSignalbox,
    RateLimited,
    RequestRejected,
    RunFailed,
    ServerError,
    SignalboxError,
)
from signalbox_client.events import (
    Call,
    Content,
    Done,
    Event,
    Flag,
    Image,
    Outcome,
    Reasoning,
    Source,
    ToolCalls,
    ToolExecuting,
    ToolResult,
    Unsaved,
    Usage,
    Warning,
)
from signalbox_client.retries import Backoff

__all__ = [
    "AccessDenied",
    "Answer",
    "AnsweredCall",
    "AsyncRun",
    "AsyncSignalbox",
    "Backoff",
    "Call",
    "Conflict",
    "ConnectionLost",
    "Content",
    "Done",
    "Event",
    "Flag",
    "Image",
    "InvalidRequest",
    "NotFound",
    "NotSignalbox",
    "Outcome",
    "RateLimited",
    "Reasoning",
    "RequestRejected",
    "Run",
    "RunFailed",
    "ServerError",
    "Signalbox",
    "SignalboxError",
    "Source",
    "ToolCalls",
    "ToolExecuting",
    "ToolResult",
    "Unsaved",
    "Usage",
    "Warning",
]
