"""LLM07 Misinformation: sources can be checked, and Signalbox's text is not attributed to the model or a source."""

from signalbox.core.tools import SourceNumbers

from tests.scenarios.security.hostile import obeys, tool_messages
from tests.support.fixtures import StartApp


def test_a_source_keeps_its_number_and_none_is_invented(start_app: StartApp) -> None:
    """The server numbers each found page once, and the model receives these numbers."""
    app, upstream = start_app(
        obeys(("search_web", {"query": "tool loop"}), ("search_web", {"query": "tool loop steps", "num_results": 5}))
    )
    app.ask("How does the tool loop work?")
    first, second = tool_messages(upstream.asked[-1].body)
    assert '"n":1' in first
    assert "/guide/" in first
    assert '"n":' in second
    book = SourceNumbers()
    assert [book.number(url) for url in ("https://a.example/", "https://b.example", "http://www.a.example")] == [
        1,
        2,
        1,
    ]


def test_an_answer_that_is_ours_says_so(start_app: StartApp) -> None:
    """If the model is silent, the replacement text is marked and has no model name."""
    app, _ = start_app(obeys(("calculate", {"expression": "1+1"})))
    heard = app.ask("Go.")
    assert not any(event.get("synthetic") for event in heard.of("content"))
    assert heard.done["requested_model"] == "openai/sim"
    assert heard.done["provider"] is not None
