"""OpenAI's chat completions: a run as one `chat.completion` object, for requests that ask for no stream."""

from typing import ClassVar

from msgspec import UNSET

from signalbox.core.codes import CODES, Code
from signalbox.core.errors import RequestError
from signalbox.core.events import Content, Done, Logprobs, Reasoning, Stamped, ToolCalls, ToolResult, Warning
from signalbox.core.handed_calls import handed_id
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.records import RunRecord
from signalbox.encoders.chat_citations import CitedSources
from signalbox.encoders.chat_completions_error import error_of, openrouter_error_of
from signalbox.encoders.chat_parts import (
    ending_of,
    finish_reason_of,
    image_of,
    joined_logprobs,
    logprobs_of,
    reasoning_details_of,
    usage_of,
    warnings_of,
)
from signalbox.encoders.encoder import failure_of
from signalbox.wire.json_text import dumps


class ChatCompletion:
    """Encodes a run as one message; a run that failed is an error with its status."""

    content_type: ClassVar[str] = "application/json"

    def __init__(self, run: RunRecord) -> None:
        self._run = run
        self._text: list[str] = []
        self._refusal: list[str] = []
        self._reasoning: list[str] = []
        self._logprobs: list[Logprobs] = []
        self._images: list[JsonValue] = []
        self._annotations: list[JsonValue] = []
        self._calls: dict[str, tuple[str, str]] = {}
        self._cited = CitedSources()
        self._warnings: list[Warning] = []
        self._done: Done | None = None

    def feed(self, batch: list[Stamped]) -> None:
        """Take in the next events."""
        for stamped in batch:
            match stamped.event:
                case Content() as content:
                    self._add_content(content)
                case Reasoning(text):
                    self._reasoning.append(text)
                case Logprobs() as logprobs:
                    self._logprobs.append(logprobs)
                case ToolCalls(calls):
                    self._cited.end_step()
                    self._calls = {call.id: (call.name, call.arguments) for call in calls}
                case ToolResult() as result:
                    self._cited.add_result(result)
                case Warning() as warning:
                    self._warnings.append(warning)
                case Done() as done:
                    self._done = done
                case _:
                    pass

    def _add_content(self, event: Content) -> None:
        if event.refusal is not UNSET:
            self._refusal.append(event.content)
        elif event.content:
            self._cited.add_text(event.content)
            self._text.append(event.content)
        if event.images is not UNSET:
            self._images += [image_of(image.url) for image in event.images]
        if event.sources is not UNSET:
            self._annotations += self._cited.annotations_of(event.sources)

    def answer(self) -> tuple[int, bytes]:
        """Return the status and the body."""
        done = self._done
        if done is None:  # the events end without `done` only if another worker has taken over the run
            return self._error_of(RequestError(Code.INTERNAL, CODES[Code.SERVER_CRASH].sentence))
        reason, failure = finish_reason_of(done), failure_of(done)
        usage = usage_of(done)
        if failure is not None and (reason is None or not (self._text or self._refusal)):
            return self._error_of(failure, usage)
        logprobs = logprobs_of(joined_logprobs(self._logprobs)) if self._logprobs else None
        choice: JsonObject = {"index": 0, "message": self._message(done), "logprobs": logprobs, **ending_of(done)}
        body: JsonObject = {
            "id": self._run.id,
            "object": "chat.completion",
            "created": int(self._run.started),
            "model": self._run.model,
            "system_fingerprint": None,
            "choices": [choice],
        }
        if done.provider is not UNSET:
            body["provider"] = done.provider
        if usage is not None:
            body["usage"] = usage
        return 200, dumps(body | warnings_of(self._warnings))

    def _error_of(self, error: RequestError, usage: JsonObject | None = None) -> tuple[int, bytes]:
        return error_of(error, usage)

    def _message(self, done: Done) -> JsonObject:
        calls = self._handed(done)
        text, reasoning = "".join(self._text), "".join(self._reasoning)
        message: JsonObject = {
            "role": "assistant",
            "content": text if text or not (calls or self._refusal) else None,
            "refusal": "".join(self._refusal) or None,
        }
        if reasoning:
            details = reasoning_details_of(reasoning)
            message |= {"reasoning": reasoning, "reasoning_content": reasoning, "reasoning_details": details}
        if annotations := [*self._annotations, *self._cited.annotations()]:
            message["annotations"] = annotations
        if self._images:
            message["images"] = self._images
        if calls:
            message["tool_calls"] = calls
        return message

    def _handed(self, done: Done) -> list[JsonValue]:
        handed = done.handed if done.handed is not UNSET else []
        return [self._call(one, *self._calls[one]) for one in handed]

    def _call(self, call_id: str, name: str, arguments: str) -> JsonValue:
        function: JsonObject = {"name": name, "arguments": arguments}
        return {"id": handed_id(self._run.id, call_id), "type": "function", "function": function}


class OpenRouterCompletion(ChatCompletion):
    """The same, with OpenRouter's errors."""

    def _error_of(self, error: RequestError, usage: JsonObject | None = None) -> tuple[int, bytes]:
        return openrouter_error_of(error, usage)
