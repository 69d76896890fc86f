"""Continued answers: a run that continues another run is its child in the tree, and both form one answer."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import cast

from msgspec import to_builtins
from msgspec.structs import replace

from signalbox.conversations.overlap import added
from signalbox.core.conversations import Answer, Node
from signalbox.core.events import Content, Source, Stamped, ToolResult
from signalbox.core.messages import AssistantMessage, JsonObject, JsonValue, Message, UserMessage

# The last message of a request must be the user's (quirk C6), so a continuation needs a user message.
CONTINUE = (
    "Your answer above was cut off. Continue it exactly where it stopped, in the middle of a word, a table or a block "
    "of code if that is where it stopped: your text is put right behind it. Begin with a space or a line break if one "
    "is due. Do not repeat anything, do not open a block of code again, and do not comment on this."
)
GO_ON = (
    "Go on with your answer above from where it ended: your text is put behind it as a new paragraph. Do not repeat "
    "anything, and do not comment on this."
)


def continues(node: Node, before: Node | None) -> bool:
    """Return whether a node is a run that continues the run before it."""
    return node.run is not None and before is not None and before.run is not None


def continuation_prompt(path: Sequence[Node]) -> list[Message]:
    """Return the prompt that continues the answer at the end of a path; empty if the path ends with no answer."""
    run = path[-1].run if path else None
    return [] if run is None else [UserMessage(GO_ON if run.status == "complete" else CONTINUE)]


def appended(run: Answer, before: str, more: str) -> str:
    """Return what a continuation adds to the text of `run`'s answer."""
    if not before.strip() or not more.strip():
        return more
    return "\n\n" + more.lstrip() if run.status == "complete" else added(before, more)


def joined(run: Answer, before: Sequence[Message], more: Sequence[Message]) -> list[Message]:
    """Append the messages of a continuation to those of the answer, joining the texts where they meet."""
    if not before or not more:
        return [*before, *more]
    last, first = before[-1], more[0]
    if not isinstance(last, AssistantMessage) or not isinstance(first, AssistantMessage) or last.calls:
        return [*before, *more]
    content = last.content + appended(run, last.content, first.content)
    return [*before[:-1], replace(first, content=content, images=last.images + first.images), *more[1:]]


# --- sources -----------------------------------------------------------------------------------------------------


def sources_in(events: Sequence[Stamped]) -> Iterator[JsonObject]:
    """Yield the sources in tool results and citations as objects with `url`, and `n` if numbered."""
    for stamped in events:
        event = stamped.event
        if isinstance(event, ToolResult):
            yield from _named(event)
        elif isinstance(event, Content) and event.sources:
            yield from map(_cited, event.sources)


def _cited(source: Source) -> JsonObject:
    return {"n": source.n, "url": source.url, "title": source.title}


def _named(event: ToolResult) -> Iterator[JsonObject]:
    result = cast(JsonObject, to_builtins(event.result)).get("result")
    if not isinstance(result, dict):
        return
    listed = result.get("results")
    places: list[JsonValue] = listed if isinstance(listed, list) else [result]
    yield from (place for place in places if isinstance(place, dict) and isinstance(place.get("url"), str))


def chain_of(path: Sequence[Node]) -> list[str]:
    """Return the ids of the runs that form the answer at the end of a path."""
    return [node.id for node in answer_at(path) if node.run is not None]


def answer_at(path: Sequence[Node]) -> list[Node]:
    """Return the nodes of the answer at the end of a path: its runs, and between them results of the client's tools."""
    return [*takewhile(lambda node: node.role == "assistant", reversed(path))][::-1]


def cited(chain: Iterable[Sequence[Stamped]]) -> dict[int, tuple[str, str]]:
    """Return the numbered sources of an answer's runs: title and URL by number."""
    found: dict[int, tuple[str, str]] = {}
    for events in chain:
        for source in sources_in(events):
            n = source.get("n")
            if type(n) is int:
                found.setdefault(n, (str(source.get("title") or ""), str(source["url"])))
    return found
