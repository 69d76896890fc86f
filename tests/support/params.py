"""Parameters and tool choices as a client writes them, and as a request sends them."""

from typing import Any

import orjson
from signalbox.core.messages import JsonValue
from signalbox.core.params import Choice, ForcedTool, Params
from signalbox.core.parts import Request
from signalbox.intakes.v1 import params_of
from signalbox.intakes.v1_schema import ChatRequest
from signalbox.wire.openrouter.request import body_of


def params(**fields: Any) -> Params:
    """Read parameters as POST /api/chat/stream takes them."""
    return params_of(ChatRequest(model="any/model", prompt="?", **fields))


def choice(written: JsonValue) -> Choice | None:
    """Read a tool choice; the object names the one tool."""
    match written:
        case None | "auto" | "none" | "required":
            return written  # pyright: ignore[reportReturnType] - narrowed to these words
        case {"function": {"name": str(name)}}:
            return ForcedTool(name)
        case _:
            raise ValueError(written)


def sent(parameters: Params) -> dict[str, Any]:
    """Return what a request's body holds beside its conversation."""
    body = orjson.loads(body_of(Request("any/model", (), params=parameters), stream=True))
    return {key: value for key, value in body.items() if key not in ("model", "messages", "stream")}
