"""What is true of an answer that was cut, read slowly from its bytes by the facts alone; no line is that of wire/."""

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
    """What a host had said when its bytes ended."""

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
        """A host that has said why it finished has finished, however it hangs up."""
        return self.done or self.finish is not None

    @property
    def is_visible(self) -> bool:
        """Whether a reader has seen anything of it: words, thoughts, or a call that only reads and could start."""
        return bool(self.text or self.reasoning or self.refusal or self.hidden or self.started(SEARCH))

    def started(self, name: str) -> int:
        """Count the calls of a tool whose arguments are whole."""
        return sum(call[0] == name and _is_object(call[1]) for call in self.calls.values())


@cache
def parse(data: bytes) -> Received:
    """Read line by line; a last line without its end counts when its JSON is whole."""
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
    """What a run must come to. `searches` and `notes` are how often each tool runs, at least and at most."""

    status: str
    text: str
    refusal: str
    reasoning: str
    searches: tuple[int, int]
    notes: int
    requests: int
    signatures: tuple[str, ...]


def after(stream: Stream, data: bytes, *, streamed: bool = True) -> Expected:
    """Say what a run comes to whose first attempt ends behind these bytes, and whose second brings the whole answer.

    Taken as a whole (`streamed` false) nothing is shown before the body is whole, so it can always be asked again.
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
    """Say what a run comes to whose every attempt ends behind these bytes, without an end."""
    heard = parse(data if streamed else b"")
    return replace(_stopped(heard, "interrupted"), requests=1 if heard.is_visible else 3)


def whole_run(heard: Received, *, attempts: int) -> Expected:
    """A step that ended well: its calls run once each, and an answer follows them."""
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
    """A step that was cut when a reader had seen of it: what came stays, nothing is asked again, nothing is written."""
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
