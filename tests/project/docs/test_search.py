"""Common questions are answered by the right page through the built-in search of the documentation."""

import pytest
from signalbox.core.tools import SearchQuery
from signalbox.services.search.docs import DocsSearch

from tests.project.docs.pages import DOCS

QUESTIONS = {
    "What is Signalbox?": "what-is-signalbox.md",
    "Signalbox": "what-is-signalbox.md",
    "Who is Signalbox for?": "what-is-signalbox.md",
    "How does the tool loop work?": "tool-loop.md",
    "What is the tool loop of Signalbox?": "tool-loop.md",
    "how do tool calls stream": "tool-loop.md",
    "What is the finalize step?": "tool-loop.md",
    "What is dedupe?": "tool-loop.md",
    "When is a model call retried?": "tool-loop.md",
    "How do I resume a stream?": "sse-contract.md",
    "Which events are there in the contract?": "sse-contract.md",
    "What does STREAM_CUT mean?": "sse-contract.md",
    "minimal client JavaScript": "sse-contract.md",
    "How do I use Ollama?": "settings.md",
    "Which settings are there?": "settings.md",
    "How do I set an access token?": "settings.md",
    "max_steps": "api.md",
    "How do I send an image?": "api.md",
    "What is the simulator?": "simulator.md",
    "What is simulated mode?": "simulator.md",
    "Which models can I use?": "what-is-signalbox.md",
    "What does an answer cost?": "what-is-signalbox.md",
    "How do I run the tests?": "testing.md",
    "Which file of the code does what?": "architecture.md",
    "Where is ConversationContext?": "architecture.md",
    "How is a run cancelled?": "architecture.md",
    "How does Signalbox work?": "what-is-signalbox.md",
    "What happens when I press stop?": "what-is-signalbox.md",
    "Does it work offline?": "what-is-signalbox.md",
    "How does Signalbox keep a stream alive when the connection drops?": "what-is-signalbox.md",
    "Explain in detail how a tool call becomes events.": "tool-loop.md",
    "Compare TOOL_LOOP_V2 and the legacy loop": "what-is-signalbox.md",
    "what a journal is": "architecture.md",
    "How do I install Signalbox?": "README.md",
    "How do I compare models?": "chat-app.md",
    "What does a red lamp mean?": "chat-app.md",
    "Where does the page keep my conversations?": "chat-app.md",
    "Why POST instead of GET?": "decisions/0001-post-instead-of-get.md",
    "Why does the calculator have its own parser?": "decisions/0009-own-calculator.md",
}


@pytest.mark.anyio
@pytest.mark.parametrize(("question", "wanted"), QUESTIONS.items())
async def test_a_question_finds_its_page(question: str, wanted: str) -> None:
    """The page with the answer is among the first three, with its key words."""
    search = DocsSearch(DOCS, own=True)
    try:
        hits = await search.search(SearchQuery(question))
    finally:
        search.close()
    assert wanted in [hit.url.removeprefix("/guide/").partition("#")[0] for hit in hits]
    assert all(len(hit.snippet) > 40 for hit in hits)


FIRST = {
    "What is Signalbox?": ("what-is-signalbox.md#what-is-signalbox", "chat router"),
    "Signalbox": ("what-is-signalbox.md#what-is-signalbox", "chat router"),
    "How are searches limited?": ("tool-loop.md#limiting-searches-clamp", "TOOL_CLAMP"),
    "What is dedupe?": ("tool-loop.md#equal-searches-dedupe", "search key"),
    "What is the finalize step?": ("tool-loop.md#the-finalize-step", "last model call"),
    "How do I resume a stream?": ("sse-contract.md#resuming-a-stream", "Last-Event-ID"),
    "What happens when I press stop?": ("what-is-signalbox.md#what-happens-when-i-press-stop", "cancelled"),
    "How does a run end?": ("what-is-signalbox.md#how-does-a-run-end", "done"),
    "What is simulated mode?": ("simulator.md#simulated-mode", "without a key"),
    "Which tools does Signalbox have?": ("what-is-signalbox.md#which-tools-does-signalbox-have", "search_web"),
    "what a journal is": ("architecture.md#journals-and-runs", "ordered events"),
}


@pytest.mark.anyio
@pytest.mark.parametrize(("question", "wanted", "words"), [(key, *value) for key, value in FIRST.items()])
async def test_a_question_that_is_a_heading_is_answered_first(question: str, wanted: str, words: str) -> None:
    """A section with the same heading is the first result, with the words of its answer."""
    search = DocsSearch(DOCS, own=True)
    try:
        first, *_ = await search.search(SearchQuery(question))
    finally:
        search.close()
    assert first.url == f"/guide/{wanted}"
    assert words in first.snippet


@pytest.mark.anyio
@pytest.mark.parametrize("question", [*QUESTIONS, *FIRST])
async def test_snippets_are_sentences(question: str) -> None:
    """Snippets begin and end with a sentence, and contain no table syntax."""
    search = DocsSearch(DOCS, own=True)
    try:
        hits = await search.search(SearchQuery(question, 5))
    finally:
        search.close()
    for hit in hits:
        for piece in hit.snippet.split(" … ["):
            assert piece[0] != "…", hit
            assert piece.rstrip('"”)')[-1] in ".!?…", hit
        assert " | " not in hit.snippet, hit
