"""Encodes an answer in the bytes of Gemini's API."""

from typing import Any

from ...completion import Completion
from ...faults.scripted import fault_of
from ..endpoint import Asked
from ..prompt_cache import PromptCache
from ..wire import Wire
from .chunks import chunks, whole
from .errors import scripted_error
from .json_text import compact, pretty
from .parts import Answer
from .request import GeminiRequest, prompt_blocks

_MALFORMED = b'data: {"candidates": [{"content": {"parts": [{"text": "half a fra\r\n\r\n'


def write(completion: Completion, asked: Asked, cache: PromptCache) -> Wire:
    """Return an answer, streamed and whole."""
    assert isinstance(asked, GeminiRequest)
    used = cache.use(asked.model, prompt_blocks(asked))
    answer = Answer(completion, asked, prompt=used.read + used.written + used.rest, cached=used.read)
    fault = fault_of(completion.model)
    objects = chunks(answer, finish_apart=fault is not None and fault.name == "cut-tool")
    frames = [_event(value) for value in objects] if asked.is_sse else _array(objects)
    overloaded = scripted_error(503).body
    return Wire(
        frames=frames,
        whole=pretty(whole(answer)),
        finish=next(at for at, value in enumerate(objects) if _is_end(value)),
        end=len(frames),
        error=[_event(overloaded) if asked.is_sse else b",\r\n" + pretty(overloaded) + b"]\n"],
        error_body=pretty(scripted_error(429).body),
        malformed=_MALFORMED,
        stream_type="text/event-stream" if asked.is_sse else "application/json; charset=UTF-8",
    )


def _event(value: dict[str, Any]) -> bytes:
    return f"data: {compact(value)}\r\n\r\n".encode()


def _array(objects: list[dict[str, Any]]) -> list[bytes]:
    """Return the elements of a JSON array, which is the format of a stream without `alt=sse`."""
    last = len(objects) - 1
    return [
        (b"[" if at == 0 else b",\r\n") + pretty(value) + (b"]\n" if at == last else b"")
        for at, value in enumerate(objects)
    ]


def _is_end(value: dict[str, Any]) -> bool:
    return "promptFeedback" in value or "finishReason" in value["candidates"][0]
