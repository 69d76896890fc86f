"""The whole answer of a run, from its events."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from typing import Any

from signalbox_client.errors import RunFailed, SignalboxError
from signalbox_client.events import (
    Call,
    Content,
    Done,
    Event,
    Image,
    Outcome,
    Reasoning,
    Source,
    ToolCalls,
    ToolResult,
    Warning,
)
from signalbox_client.previews import Previews

_BREAK = "\n\n"  # between the texts of two steps


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredCall(Call):
    """A tool call with its result. If the call has no result, `outcome` is None."""

    step: int | None = None
    outcome: Outcome | None = None
    cached: bool = False
    artifact: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer of a run. The offsets in `sources` are positions in `text`. `done` has the status, cost and usage."""

    run_id: str
    text: str
    reasoning: str
    calls: list[AnsweredCall]
    sources: list[Source]
    images: list[Image]
    warnings: list[Warning]
    done: Done
    conversation_id: str | None = None
    message_id: str | None = None

    @property
    def status(self) -> str:
        """How the run ended."""
        return self.done.status

    def raise_for_status(self) -> "Answer":
        """Return the answer if it is complete; otherwise raise `RunFailed`."""
        if self.status != "complete":
            raise RunFailed(self)
        return self


def answer_of(events: Iterable[Event], run_id: str, conversation_id: str | None, message_id: str | None) -> Answer:
    """Collect the events of a run that has ended, without those that a server crash lost."""
    kept = list(events)
    done = kept[-1] if kept else None
    if not isinstance(done, Done):
        advice = "Read the run from its first event."
        raise SignalboxError("NO_DONE", f"The last event of the run was not received. {advice}")
    if lost := done.unsaved:
        kept = [event for event in kept if not lost.after < event.seq < lost.before]
    return Answer(
        run_id=run_id,
        text="".join(event.content for event in kept if isinstance(event, Content)),
        reasoning=_reasoning(kept),
        calls=_calls(kept),
        sources=list(_sources(kept)),
        images=[image for event in kept if isinstance(event, Content) for image in event.images],
        warnings=[event for event in kept if isinstance(event, Warning)],
        done=done,
        conversation_id=conversation_id,
        message_id=message_id,
    )


def _reasoning(events: list[Event]) -> str:
    pieces = [event for event in events if isinstance(event, Reasoning) and event.content]
    steps = groupby(pieces, key=lambda piece: piece.step)
    return _BREAK.join("".join(piece.content for piece in step) for _, step in steps)


def _calls(events: list[Event]) -> list[AnsweredCall]:
    calls: dict[str, AnsweredCall] = {}
    previews = Previews()
    for event in events:
        previews.add(event)
        if isinstance(event, ToolCalls):
            calls |= {call.id: AnsweredCall(**asdict(previews.whole(call)), step=event.step) for call in event.calls}
        elif isinstance(event, ToolResult) and event.id in calls:
            calls[event.id] = replace(
                calls[event.id], outcome=event.result, cached=event.cached, artifact=event.artifact
            )
    return list(calls.values())


def _sources(events: list[Event]) -> Iterator[Source]:
    """Yield the sources; their offsets, which count in the text of one step, become positions in the whole text."""
    length = start = 0
    is_new_step = False
    for event in events:
        if isinstance(event, ToolCalls):
            is_new_step = True
        if not isinstance(event, Content):
            continue
        if is_new_step and event.content:
            is_new_step = False
            start = length + (len(_BREAK) if length and event.content == _BREAK else 0)
        length += len(event.content)
        for source in event.sources:
            if source.start_index is None or source.end_index is None:
                yield source
            else:
                yield replace(source, start_index=source.start_index + start, end_index=source.end_index + start)
