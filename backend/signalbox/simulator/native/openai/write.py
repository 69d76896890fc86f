"""Writes an answer of the simulated model in the words of the Responses API."""

from typing import Any

import orjson

from ...completion import Completion
from ...json_values import as_object
from ..endpoint import Asked
from ..prompt_cache import PromptCache
from ..wire import Wire
from .accents import EVENTS, PLAIN_FRAMES, PREFIX, with_plain_frames
from .errors import error_fields, request_id
from .output import encrypted_again, number_of, output_items
from .response import Echo, End, end_of, response_id, usage_of
from .stream import Event, frames_of, item_events

OVERLOADED = "The server had an error while processing your request. Sorry about that!"
LIMIT = "Rate limit reached for requests. Please try again in 2s."


def write(completion: Completion, asked: Asked, cache: PromptCache) -> Wire:
    """Encode an answer, streamed and whole."""
    body, number = asked.body, number_of(completion)
    end = end_of(completion)
    items = output_items(completion, body, end)
    echo = Echo(response_id(number), completion.created, body)
    repeated = encrypted_again(items, str(body["model"]), number)
    response = echo.response(end, repeated, usage_of(completion, body, cache))
    started = echo.response(End(status="in_progress"), [], None)
    obfuscated = as_object(body.get("stream_options")).get("include_obfuscation") is not False
    events: list[Event] = [("response.created", {"response": started}), ("response.in_progress", {"response": started})]
    if completion.reasoning:
        events.append(("keepalive", {}))
    for at, item in enumerate(items):
        events += item_events(at, item, completion.family, obfuscated=obfuscated)
    accent = str(body["model"]).removeprefix(PREFIX)
    events = EVENTS[accent](events) if accent in EVENTS else events
    frames = frames_of([*events, (f"response.{end.status}", {"response": response})])
    frames = with_plain_frames(frames) if accent == PLAIN_FRAMES else frames
    return Wire(
        frames=frames,
        whole=orjson.dumps(response),
        finish=len(frames) - 1,
        end=len(frames),
        error=_failure(echo, len(frames) // 2),
        error_body=orjson.dumps({"error": error_fields("requests", "rate_limit_exceeded", LIMIT)}),
        malformed=b'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","de\n\n',
        headers=headers(completion),
    )


def headers(completion: Completion) -> dict[str, str]:
    """Return the headers of an answer."""
    return {
        "x-request-id": request_id(completion.id),
        "openai-version": "2020-10-01",
        "openai-organization": "org-simulated",
        "openai-processing-ms": "100",
    }


def _failure(echo: Echo, number: int) -> list[bytes]:
    """Return the two events of an error in the middle of the stream (recorded: insufficient_quota)."""
    fields: dict[str, Any] = {"type": "server_error", "code": "server_error", "message": OVERLOADED, "param": None}
    failed = echo.response(End(status="failed", error={"code": "server_error", "message": OVERLOADED}), [], None)
    before: list[Event] = [("", {})] * number
    return frames_of([*before, ("error", {"error": fields}), ("response.failed", {"response": failed})])[number:]
