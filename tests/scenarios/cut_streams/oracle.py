"""The expected outcome of a cut answer, derived from its bytes; shares no code with wire/."""

import json
import re
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from tests.scenarios.cut_streams.streams import NOTE, SEARCH, Stream

_LINE_END = re.compile(rb"\r\n|\n|\r")
ANSWER = "So it is."
STATUS = {"stop": "complete", "tool_calls": "complete", "length": "length", "content_filter": "content_filter"}


@dataclass
class Received:
    """What the provider had sent when the bytes ended."""

    text: str = ""
    reasoning: str = ""
    refusal: str = ""
    hidden: bool = False
    signatures: list[str] = field(default_factory=list[str])
    calls: dict[int, list[str]] = field(default_factory=dict[int, list[str]])
    finish: str | None = None
    done: bool = False
    error: bool = False
    usage: bool = False

    @property
    def has_ended(self) -> bool:
        """Return whether the provider gave a finish reason, after which the kind of disconnect does not matter."""
        return self.done or self.finish is not None

    @property
    def is_visible(self) -> bool:
        """Return whether a client has seen part of it: text, reasoning, or an eager call that could start."""
        return bool(self.text or self.reasoning or self.refusal or self.hidden or self.started(SEARCH))

    def started(self, name: str) -> int:
        """Count the calls of a tool whose arguments are complete."""
        return sum(call[0] == name and _is_object(call[1]) for call in self.calls.values())


@cache
def parse(data: bytes) -> Received:
    """Parse line by line; an unterminated last line counts if its JSON is complete."""
    heard = Received()
    for line in _LINE_END.split(data):
        if not line.startswith(b"data:") or heard.done:
            continue
        payload = line[5:].strip()
        if payload == b"[DONE]":
            heard.done = True
            continue
        try:
            _chunk(heard, json.loads(payload))
        except ValueError:
            continue  # cut
    return heard


def _chunk(heard: Received, chunk: dict[str, Any]) -> None:
    heard.error = heard.error or "error" in chunk
    heard.usage = heard.usage or "usage" in chunk
    for choice in chunk["choices"]:
        delta = choice["delta"]
        heard.text += delta.get("content") or ""
        heard.reasoning += delta.get("reasoning") or ""
        heard.refusal += delta.get("refusal") or ""
        for detail in delta.get("reasoning_details") or []:
            heard.hidden = heard.hidden or "data" in detail
            heard.signatures += [detail[key] for key in ("data", "signature") if key in detail]
        for piece in delta.get("tool_calls") or []:
            call = heard.calls.setdefault(piece["index"], ["", ""])
            call[0] += piece["function"].get("name") or ""
            call[1] += piece["function"].get("arguments") or ""
        heard.finish = choice["finish_reason"] or heard.finish


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


@dataclass(frozen=True)
class Expected:
    """The expected outcome of a run.

    `searches` is how often the eager tool runs, at least and at most; `notes` is how often the writing tool runs.
    """

    status: str
    text: str
    refusal: str
    reasoning: str
    searches: tuple[int, int]
    notes: int
    requests: int
    signatures: tuple[str, ...]


def after(stream: Stream, data: bytes, *, streamed: bool = True) -> Expected:
    """Return the outcome of a run whose first attempt ends after these bytes, and whose second is complete.

    As one body (`streamed` false) nothing is visible before the body is complete, so a retry is always possible.
    """
    heard, whole = parse(data), parse(stream.raw)
    if not streamed:
        return whole_run(whole, attempts=1 if data == stream.body else 2)
    if heard.error and heard.is_visible:
        return _stopped(heard, "error")
    if heard.error:
        return whole_run(whole, attempts=2)
    if heard.has_ended:
        return whole_run(heard, attempts=1)
    if heard.is_visible:
        return _stopped(heard, "interrupted")
    return whole_run(whole, attempts=2)


def always(data: bytes, *, streamed: bool = True) -> Expected:
    """Return the outcome of a run whose every attempt ends after these bytes, without a clean end."""
    heard = parse(data if streamed else b"")
    return replace(_stopped(heard, "interrupted"), requests=1 if heard.is_visible else 3)


def whole_run(heard: Received, *, attempts: int) -> Expected:
    """Return the outcome of a step that ended well: its calls run once each, and an answer follows."""
    searches, notes = heard.started(SEARCH), heard.started(NOTE)
    calls = searches + notes
    text = heard.text + (("\n\n" if heard.text else "") + ANSWER if calls else "")
    return Expected(
        status=STATUS[heard.finish or "stop"],
        text=text,
        refusal=heard.refusal,
        reasoning=heard.reasoning,
        searches=(searches, searches),
        notes=notes,
        requests=attempts + bool(calls),
        signatures=tuple(heard.signatures) if calls else (),
    )


def _stopped(heard: Received, status: str) -> Expected:
    """Return the outcome of a step that was cut after a part was visible: no retry, no side effect."""
    return Expected(
        status=status,
        text=heard.text,
        refusal=heard.refusal,
        reasoning=heard.reasoning,
        searches=(0, heard.started(SEARCH)),
        notes=0,
        requests=1,
        signatures=(),
    )
