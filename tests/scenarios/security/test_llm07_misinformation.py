"""LLM07 Misinformation: what is cited can be checked, and nothing of ours passes for the model's words or a source."""

from signalbox.core.tools import SourceNumbers

from tests.scenarios.security.hostile import obeys, tool_messages
from tests.support.fixtures import Behind


def test_a_source_keeps_its_number_and_none_is_invented(behind: Behind) -> None:
    """The server numbers what was really found, once per page; the model is given the numbers to cite."""
    app, upstream = behind(
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


def test_an_answer_that_is_ours_says_so(behind: Behind) -> None:
    """Where the model stays silent, the sentence in its place is marked as ours, and no model's name is put to it."""
    app, _ = behind(obeys(("calculate", {"expression": "1+1"})))
    heard = app.ask("Go.")
    assert not any(event.get("synthetic") for event in heard.of("content"))
    assert heard.done["requested_model"] == "openai/sim"
    assert heard.done["provider"] is not None
