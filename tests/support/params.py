"""Builds parameters and tool choices as a client writes them, and reads them from a request."""

from typing import Any

import orjson
from signalbox.core.messages import JsonValue
from signalbox.core.params import Choice, ForcedTool, Params
from signalbox.core.parts import Request
from signalbox.intakes.v1 import params_of
from signalbox.intakes.v1_schema import ChatRequest
from signalbox.wire.openrouter.request import body_of


def params(**fields: Any) -> Params:
    """Parse parameters as POST /api/chat/stream does."""
    return params_of(ChatRequest(model="any/model", prompt="?", **fields))


def choice(written: JsonValue) -> Choice | None:
    """Parse a tool choice; an object names a tool."""
    match written:
        case None | "auto" | "none" | "required":
            return written  # pyright: ignore[reportReturnType] - narrowed to these words
        case {"function": {"name": str(name)}}:
            return ForcedTool(name)
        case _:
            raise ValueError(written)


def sent(parameters: Params) -> dict[str, Any]:
    """Return the fields of a request's body except its conversation."""
    body = orjson.loads(body_of(Request("any/model", (), params=parameters), stream=True))
    return {key: value for key, value in body.items() if key not in ("model", "messages", "stream")}
