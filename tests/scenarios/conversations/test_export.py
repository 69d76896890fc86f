"""Exports of conversations: Markdown of the shown branch, JSON of the whole tree."""

import json
import re

from signalbox.conversations.export import as_json, as_markdown
from signalbox.core.conversations import Answer, Conversation, Node
from signalbox.core.events import (
    ArgumentsDelta,
    Call,
    Content,
    Failure,
    Logprobs,
    Source,
    Stamped,
    Success,
    ToolCalls,
    ToolResult,
)

from tests.scenarios.conversations.conversation_client import ConversationClient, start_conversation
from tests.support.disk import BOTH
from tests.support.fixtures import StartApp
from tests.support.running_app import read_until
from tests.support.scripted_upstream import call_chunk, calls_then, chunk, holds, says

URL = "/api/conversations"
DATABASES = BOTH


def exported(start_app: StartApp) -> ConversationClient:
    """Start a conversation with a call, two branches and a title that is no file name."""
    called = calls_then(call_chunk("calculate", '{"expression":"6*7"}'))
    conversation = start_conversation(start_app, called, says("It is **42**."), says("Again."), says("B"))
    first = conversation.ask("6*7?", tools=["calculate"], system="Be brief.")
    conversation.ask(parent_id=first.message_id, tools=["calculate"])
    conversation.app.client.patch(f"{URL}/{conversation.id}", json={"leaf_id": first.run_id, "title": 'Änd "../x"\n?'})
    return conversation


def test_markdown_is_the_branch_that_is_shown(start_app: StartApp) -> None:
    """The file has system messages, questions, calls and answers from the root to the leaf."""
    conversation = exported(start_app)
    response = conversation.get("/export")
    assert response.headers["content-type"] == "text/markdown; charset=utf-8"
    assert response.headers["content-disposition"] == 'attachment; filename="And-x.md"'
    text = response.text
    assert text.startswith('# Änd "../x" ?\n')
    order = [text.index(piece) for piece in ("> Be brief.", "6*7?", "called `calculate`", "It is **42**.")]
    assert order == sorted(order)
    assert '- called `calculate` with `{"expression":"6*7"}`' in text
    assert "42" in next(line for line in text.splitlines() if "called" in line)
    assert "Again." not in text


def test_markdown_keeps_the_order_of_words_and_calls(start_app: StartApp) -> None:
    """Text before a call is above it."""
    call = calls_then(chunk({"content": "Let me see."}), call_chunk("calculate", '{"expression":"6*7"}'))
    conversation = start_conversation(start_app, call, says("It is 42."))
    conversation.ask("6*7?", tools=["calculate"])
    text = conversation.get("/export").text
    order = [text.index(piece) for piece in ("Let me see.", "- called `calculate`", "It is 42.")]
    assert order == sorted(order)


def test_markdown_names_sources(start_app: StartApp) -> None:
    """Search results are listed below the answer, each URL once."""
    called = calls_then(call_chunk("search_web", '{"query":"tool loop"}'))
    conversation = start_conversation(start_app, called, says("See [1]."), settings={"search_backend": "docs"})
    conversation.ask("How does the tool loop work?", tools=["search_web"])
    text = conversation.get("/export").text
    assert "- called `search_web`" in text
    sources = text[text.index("Sources:") :]
    assert re.search(r"^1\. .+: <.+>$", sources, re.MULTILINE)
    urls = re.findall(r"<(.+)>", sources)
    assert len(urls) == len(set(urls))


def test_json_is_the_whole_tree(start_app: StartApp) -> None:
    """JSON has every branch, with the events of every run."""
    conversation = exported(start_app)
    response = conversation.get("/export", format="json")
    assert response.headers["content-disposition"] == 'attachment; filename="And-x.json"'
    whole = response.json()
    tree = conversation.tree()
    assert (whole["id"], whole["leaf_id"], whole["title"]) == (conversation.id, tree["leaf_id"], tree["title"])
    runs = [node for node in whole["messages"] if "run_id" in node]
    assert len(runs) == 2
    bare = [{name: value for name, value in node.items() if name != "events"} for node in whole["messages"]]
    assert bare == tree["messages"]
    assert [event["type"] for event in runs[0]["events"]][-1] == "done"
    assert "tool_result" in {event["type"] for event in runs[0]["events"]}


def test_json_has_only_events_of_the_contract() -> None:
    """Events that are only in the journal, such as pieces of arguments, are not exported."""
    events = [
        Stamped(1, 0, ArgumentsDelta("c", "wall_clock", "{", 1)),
        Stamped(2, 0, Logprobs([{"token": "Hi"}], [])),
        Stamped(3, 0, Content("Hi")),
    ]
    whole = json.loads(as_json(Conversation("c", "T"), [{"id": "r"}], {}, {"r": events}))
    assert whole["messages"] == [{"id": "r", "events": [{"seq": 3, "at": 0, "type": "content", "content": "Hi"}]}]


def test_an_export_under_way_is_as_far_as_it_is(start_app: StartApp) -> None:
    """An unfinished run is included with its text so far, and marked as unfinished."""
    conversation = start_conversation(start_app, holds)
    with conversation.app.asking("one", conversation_id=conversation.id) as response:
        pieces = response.iter_raw()
        read_until(pieces, b"So far")
        text = conversation.get("/export").text
        assert "So far" in text
        assert "still running" in text
        events = conversation.get("/export", format="json").json()["messages"][1]["events"]
        assert [event["type"] for event in events] == ["content"]


def test_an_export_tells_an_open_call() -> None:
    """Open and failed calls are marked, and so is the status of the run."""
    events = [
        Stamped(1, 0, ToolCalls([Call(one, "linger", "{}", "other", "primary") for one in "ab"])),
        Stamped(2, 0, ToolResult("b", "linger", Failure(False, "It\nbroke.", "TOOL_FAILED"), "other", "primary")),
    ]
    run = Answer("interrupted", "SERVER_CRASH", "m", "v2")
    text = as_markdown(Conversation("c", "T"), [Node("r", None, "assistant", run=run)], {}, {"r": events})
    lines = [line for line in text.splitlines() if line]
    assert lines[3:] == [
        "- called `linger` with `{}`: no result yet",
        "- called `linger` with `{}`: failed, It broke.",
        "*(interrupted, SERVER_CRASH)*",
    ]


def test_a_source_is_named_once() -> None:
    """A source has its first title, in order; without a title, its URL is the title."""

    def found(call_id: str, *sources: dict[str, str]) -> Stamped:
        told = Success(True, {"results": [*sources]})
        return Stamped(1, 0, ToolResult(call_id, "search_web", told, "search", "primary"))

    page = Stamped(
        1, 0, ToolResult("c", "read_url", Success(True, {"url": "https://b", "text": "x"}), "other", "primary")
    )
    events = [found("a", {"url": "https://a", "title": "A"}), found("b", {"url": "https://a", "title": "Z"}), page]
    run = Answer("complete", None, "m", "v2")
    text = as_markdown(Conversation("c", "T"), [Node("r", None, "assistant", run=run)], {}, {"r": events})
    assert text.endswith("Sources:\n\n- A: <https://a>\n- https://b: <https://b>\n")


def test_sources_have_the_numbers_of_the_answer() -> None:
    """Each number that the answer cites has one line, whatever the order and form of the URLs."""
    found = Success(True, {"results": [{"n": 2, "url": "https://b", "title": "B"}, {"n": 1, "url": "https://a"}]})
    cited = [Source(2, "https://B/#part", "B again"), Source(3, "https://c", "<script>alert(1)</script> *C*")]
    events = [
        Stamped(1, 0, ToolResult("a", "search_web", found, "search", "primary")),
        Stamped(2, 0, Content("", sources=cited, step=2)),
    ]
    run = Answer("complete", None, "m", "v2")
    text = as_markdown(Conversation("c", "T"), [Node("r", None, "assistant", run=run)], {}, {"r": events})
    last = "3. \\<script\\>alert(1)\\</script\\> \\*C\\*: <https://c>"
    assert text.endswith(f"Sources:\n\n1. https://a: <https://a>\n2. B: <https://b>\n{last}\n")


def test_a_source_cannot_leave_its_brackets() -> None:
    """A plugin's URL with special characters stays inside its Markdown link."""
    page = Success(True, {"url": "https://a/><script>x y", "title": "A"})
    events = [Stamped(1, 0, ToolResult("a", "fetch", page, "other", "primary"))]
    run = Answer("complete", None, "m", "v2")
    text = as_markdown(Conversation("c", "T"), [Node("r", None, "assistant", run=run)], {}, {"r": events})
    assert text.endswith("- A: <https://a/%3E%3Cscript%3Ex%20y>\n")


def test_an_export_names_what_a_client_brought(start_app: StartApp) -> None:
    """Calls and results from a client's history are in both formats, images by their URL."""
    conversation = start_conversation(start_app, says("A"))
    call = {"id": "c1", "type": "function", "function": {"name": "calculate", "arguments": '{"expression": "1`2"}'}}
    parts = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}]
    brought = [
        {"role": "user", "content": parts},
        {"role": "assistant", "content": "Look.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "no"},
        {"role": "user", "content": "Why?"},
    ]
    conversation.ask(messages=brought)
    text = conversation.get("/export").text
    assert "*Attached: image" in text
    assert "iVBOR" not in text
    assert '- called `calculate` with ``{"expression":"1`2"}``' in text
    told = conversation.get("/export", format="json").json()["messages"]
    assert json.dumps(told[1]["calls"]).count("calculate") == 2
    assert conversation.get("/export", format="xml").status_code == 422


def test_an_export_has_broken_arguments_as_text(start_app: StartApp) -> None:
    """Broken arguments are exported as text; the provider receives an empty object."""
    conversation = start_conversation(start_app, says("A"))
    broken = '{"expression": "1+'
    call = {"id": "c1", "type": "function", "function": {"name": "calculate", "arguments": broken}}
    brought = [
        {"role": "user", "content": "Count."},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "no"},
        {"role": "user", "content": "Why?"},
    ]
    conversation.ask(messages=brought)
    told = conversation.get("/export", format="json").json()["messages"]
    assert told[1]["calls"][0]["calls"] == [{"id": "c1", "name": "calculate", "arguments": broken}]
    assert f"- called `calculate` with `{broken}`" in conversation.get("/export").text
    [sent] = [m for m in conversation.upstream.asked[0].body["messages"] if m.get("tool_calls")]
    assert sent["tool_calls"][0]["function"]["arguments"] == "{}"
