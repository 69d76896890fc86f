"""An UpstreamClient of a scripted provider."""

from collections.abc import Callable

from signalbox.core.messages import UserMessage
from signalbox.core.parts import (
    Request,
    StreamPart,
    TextDelta,
)
from signalbox.services.upstream import UpstreamClient

from tests.support.fakes import collect_reads
from tests.support.scripted_upstream import ScriptedUpstream

ASK = Request("openai/sim", (UserMessage("Hello!"),))
KEY = "sk-or-v1-canary0123456789"
Start = Callable[..., tuple[UpstreamClient, ScriptedUpstream]]


async def read_stream(service: UpstreamClient, request: Request = ASK) -> list[StreamPart]:
    """Read one stream to its end."""
    return [part for parts in await collect_reads(service, request) for part in parts]


def text_of(parts: list[StreamPart]) -> str:
    """Join the text."""
    return "".join(part.text for part in parts if isinstance(part, TextDelta))
