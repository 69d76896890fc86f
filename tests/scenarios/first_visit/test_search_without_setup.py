"""Search without configuration searches the documentation and says so."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp, settings_for
from tests.support.scripted_upstream import call_chunk, calls_then, says

NOTICE = "Web search is not set up, so this server's documents and saved notes were searched instead."


def searched(start_app: StartApp, query: str, **settings: Any) -> tuple[dict[str, Any], str]:
    """Let a model search; return the result and the tool's description."""
    scripts = (calls_then(call_chunk("search_web", f'{{"query": "{query}"}}')), says("Done."))
    app, upstream = start_app(*scripts, settings=settings)
    [told] = app.ask().of("tool_result")
    assert told["result"]["success"], told
    tools = {tool["function"]["name"]: tool["function"]["description"] for tool in upstream.asked[0].body["tools"]}
    return told["result"]["result"], tools["search_web"]


def test_model_and_client_read_that_the_documentation_was_searched(start_app: StartApp) -> None:
    """The notice is in the tool's description and at the start of the result."""
    result, description = searched(start_app, "How does the tool loop work")
    assert result["notice"] == NOTICE
    assert result["results"][0]["url"].startswith("/guide/")
    assert NOTICE in description


@pytest.mark.parametrize("query", ["Who built the Eiffel tower", "best pizza recipe", "weather in Paris today"])
def test_unrelated_pages_are_no_results(start_app: StartApp, query: str) -> None:
    """A query without matches in the documentation finds nothing."""
    result, _ = searched(start_app, query)
    assert result["results"] == []
    assert result["notice"] == NOTICE
    assert result["note"].startswith("Searching Signalbox's own documentation (")


def test_what_was_configured_has_no_notice(start_app: StartApp, tmp_path: Path) -> None:
    """Configured documents, or the documentation if configured by name, have no notice."""
    (tmp_path / "pandas.md").write_text("# Pandas\n\nPandas eat bamboo.\n", encoding="utf-8")
    for settings in ({"signalbox_docs": tmp_path}, {"search_backend": "docs"}):
        result, description = searched(start_app, "pandas", **settings)
        assert "notice" not in result
        assert "not configured" not in description


@pytest.mark.parametrize("loop", ["v2", "legacy"])
def test_the_simulated_answer_says_so(tmp_path: Path, loop: str) -> None:
    """A first question without a key shows sources and the notice, on both loops."""
    openrouter = "https://openrouter.ai/api/v1"
    settings = settings_for(
        tmp_path / "data", openrouter_api_key=None, openrouter_base_url=openrouter, tool_loop_v2=loop == "v2"
    )
    with RunningApp(settings) as app:
        assert app.ask("How do tool calls stream?").text.endswith(NOTICE)
        nothing = app.ask("Who built the Eiffel tower?").text
        assert nothing == f"This server's documents have nothing on **built Eiffel tower**.\n\n{NOTICE}"
        none = app.ask("How do tool calls stream?", max_searches=0)
        assert none.calls == []
