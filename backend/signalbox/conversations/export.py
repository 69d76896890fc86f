"""Exports a conversation: one branch as Markdown, or the whole tree as JSON."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import cast
from urllib.parse import quote

from msgspec import UNSET, to_builtins

from signalbox.conversations.continuing import appended, continues, sources_in
from signalbox.conversations.turns import files_in, handed_results_in
from signalbox.core.conversations import Conversation, Node
from signalbox.core.events import Call, Content, Done, Stamped, ToolCalls, ToolResult, contract_events
from signalbox.core.messages import (
    AssistantMessage,
    ImagePart,
    JsonObject,
    JsonValue,
    Message,
    ToolCall,
    ToolMessage,
)
from signalbox.wire.json_text import dumps

_LONGEST_CALL = 200
_CALLED = "- called `"
# Characters that start inline markup; not `_`, so that a URL used as a title stays readable.
_MARKUP = re.compile(r"[\\`*<>\[\]&]")

Bodies = Mapping[str, Sequence[Message]]
Events = Mapping[str, Sequence[Stamped]]


def file_name(title: str, ending: str) -> str:
    """Return a portable file name: letters, digits and dashes."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    return f"{re.sub(r'[^A-Za-z0-9]+', '-', plain).strip('-')[:60].strip('-') or 'conversation'}.{ending}"


def as_json(
    conversation: Conversation,
    nodes: Sequence[JsonObject],
    bodies: Bodies,
    events: Events,
    files: Sequence[JsonObject] = (),
) -> bytes:
    """Encode the whole tree: each node as in the API, with the client's calls and the run's events; and `files`."""
    return dumps(
        {
            "id": conversation.id,
            "title": conversation.title,
            "created": conversation.created,
            "updated": conversation.updated,
            "leaf_id": conversation.leaf_id,
            "messages": [
                {**node, **_within(bodies.get(str(node["id"])), events.get(str(node["id"])))} for node in nodes
            ],
            "files": [*files],
        }
    )


def _within(body: Sequence[Message] | None, events: Sequence[Stamped] | None) -> JsonObject:
    out: JsonObject = {}
    calls: list[JsonValue] = [call for message in body or () if (call := _call_json(message)) is not None]
    if calls:
        out["calls"] = calls
    if events is not None:
        out["events"] = [_event_json(stamped) for stamped in contract_events(events)]
    return out


def _event_json(stamped: Stamped) -> JsonObject:
    return {"seq": stamped.seq, "at": stamped.at, **cast(JsonObject, to_builtins(stamped.event))}


def _call_json(message: Message) -> JsonValue:
    match message:
        case AssistantMessage(calls=calls) if calls:
            return {"calls": [{"id": call.id, "name": call.name, "arguments": _arguments(call)} for call in calls]}
        case ToolMessage():
            result: JsonObject = {"result_of": message.call_id, "name": message.name, "content": message.content}
            result |= {} if message.shown is None else {"shown": message.shown}
            return result if message.artifact is None else {**result, "artifact": message.artifact}
        case _:
            return None


def _arguments(call: ToolCall) -> str:
    """Return the text of a call's arguments, as in events, also if it is not a JSON object."""
    return dumps(call.arguments).decode() if call.raw is None else call.raw


def as_markdown(conversation: Conversation, path: Sequence[Node], bodies: Bodies, events: Events) -> str:
    """Render one branch: speakers, texts, tool calls and sources."""
    when = datetime.fromtimestamp(conversation.created, UTC)
    blocks = [f"# {conversation.title}", f"{when:%Y-%m-%d %H:%M} UTC"]
    for chain in _answers(path):
        node = chain[0]
        body, emitted = bodies.get(node.id, ()), [event for one in chain for event in events.get(one.id, ())]
        blocks += [f"## {_heading(node, body)}", *_attached(body)]
        blocks += _system(node)
        blocks += _answer_blocks(chain, events) if node.run else _client_blocks(node, body)
        blocks += _status(chain[-1]) + _sources(emitted)
    return "\n\n".join(blocks) + "\n"


def _answers(path: Sequence[Node]) -> list[list[Node]]:
    """Group each answer with the runs that continue it; every other node is its own group."""
    chains: list[list[Node]] = []
    for node in path:
        if chains and continues(node, chains[-1][-1]):
            chains[-1].append(node)
        else:
            chains.append([node])
    return chains


def _heading(node: Node, body: Sequence[Message]) -> str:
    if node.run is not None:
        return f"Answer ({node.run.model})"
    if node.role == "user":
        return "Question"
    return "Results of the client's tools" if handed_results_in(body) else "Answer (imported)"


def _system(node: Node) -> list[str]:
    quoted = "\n".join(f"> {line}" for line in (node.system or "").splitlines())
    return [f"> Instructions:\n{quoted}"] if quoted else []


def _attached(body: Sequence[Message]) -> list[str]:
    """Name the attachments, without the content of data URLs."""
    return [
        f"*Attached: {_file(part.url, 'image') if isinstance(part, ImagePart) else _plain(part.filename)}*"
        for part in files_in(body)
    ]


def _file(url: str, kind: str) -> str:
    return f"{kind} (data not included)" if url.startswith("data:") else f"{kind} {url}"


def _client_blocks(node: Node, body: Sequence[Message]) -> list[str]:
    """Render a client's message: calls, results of handed calls, then text."""
    lines = _calls_in(body) + [f"- `{one.name}` returned {_code(one.content)}" for one in handed_results_in(body)]
    return (["\n".join(lines)] if lines else []) + ([node.text] if node.text.strip() else [])


def _answer_blocks(chain: Sequence[Node], events: Events) -> list[str]:
    """Render an answer with its continuations; each continues the last text before it."""
    blocks: list[str] = []
    before: Node | None = None
    for node in chain:
        more = _run_blocks(events.get(node.id, ()))
        if before is not None and before.run is not None and blocks and more and not _is_call(blocks[-1], more[0]):
            blocks[-1] += appended(before.run, blocks[-1], more.pop(0))
        blocks += more
        before = node
    return blocks


def _is_call(*blocks: str) -> bool:
    """Return whether one of these blocks is a list of calls."""
    return any(block.startswith(_CALLED) for block in blocks)


def _run_blocks(events: Sequence[Stamped]) -> list[str]:
    """Render texts and calls of one run in order."""
    results = {s.event.id: _result_text(_result(s.event)) for s in events if isinstance(s.event, ToolResult)}
    results |= dict.fromkeys(_handed(events), "handed to the client")
    pieces: list[tuple[bool, str]] = []
    for event in (stamped.event for stamped in events):
        if isinstance(event, Content):
            pieces.append((False, event.content + _drawn(event)))
        elif isinstance(event, ToolCalls):
            pieces += [(True, _call_line(call, results.get(call.id, "no result yet"))) for call in event.calls]
    blocks: list[str] = []
    for is_call, group in groupby(pieces, key=lambda piece: piece[0]):
        texts = [text for _, text in group]
        blocks.append("\n".join(texts) if is_call else "".join(texts).strip("\n"))
    return [block for block in blocks if block.strip()]


def _drawn(event: Content) -> str:
    """Return the images of an event as Markdown; their URLs contain no spaces."""
    return "".join(f"\n\n![Image](<{image.url}>)\n\n" for image in event.images or ())


def _calls_in(body: Sequence[Message]) -> list[str]:
    calls = [call for message in body if isinstance(message, AssistantMessage) for call in message.calls]
    return [f"- called `{call.name}` with {_code(_arguments(call))}" for call in calls]


def _handed(events: Sequence[Stamped]) -> list[str]:
    done = events[-1].event if events else None
    return done.handed if isinstance(done, Done) and done.handed is not UNSET else []


def _call_line(call: Call, result: str) -> str:
    """Render a call and its result in one line."""
    return f"{_CALLED}{call.name}` with {_code(call.arguments)}: {result}"


def _result(event: ToolResult) -> JsonObject:
    return cast(JsonObject, to_builtins(event.result))


def _result_text(result: JsonObject) -> str:
    if not result["success"]:
        return f"failed, {_plain(str(result['error']))}"
    found = result["result"]
    if isinstance(found, dict) and isinstance(found.get("results"), list):
        return f"{len(cast(list[JsonValue], found['results']))} results"
    return _code(dumps(found).decode())


def _sources(events: Sequence[Stamped]) -> list[str]:
    """List the sources of results and citations, numbered as in the answer; unnumbered ones last."""
    numbered: dict[int, str] = {}
    others: dict[str, str] = {}
    for source in sources_in(events):
        n, line = source.get("n"), _source_line(source)
        if type(n) is int:
            numbered.setdefault(n, line)
        else:
            others.setdefault(str(source["url"]), line)
    lines = [*(f"{n}. {numbered[n]}" for n in sorted(numbered)), *(f"- {line}" for line in others.values())]
    return ["\n".join(["Sources:", "", *lines])] if lines else []


def _source_line(source: JsonObject) -> str:
    url = str(source["url"])
    address = re.sub(r"[<>\s\\]", lambda found: quote(found.group()), url)
    return f"{_plain(str(source.get('title') or url))}: <{address}>"


def _status(node: Node) -> list[str]:
    if node.run is None or node.run.status == "complete":
        return []
    return [f"*({node.run.status or 'still running'}{f', {node.run.code}' if node.run.code else ''})*"]


def _code(text: str) -> str:
    """Format a text as inline code, with more backticks than it contains."""
    text = _line(text)
    ticks = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def _plain(text: str) -> str:
    """Return a text in one line with Markdown and HTML escaped."""
    return _MARKUP.sub(r"\\\g<0>", _line(text))


def _line(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_CALL else f"{text[:_LONGEST_CALL]}…"
