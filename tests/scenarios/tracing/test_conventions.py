"""The three conventions: the same run under their names."""

import pytest

from tests.scenarios.tracing.conftest import Trace, saying
from tests.support.collector import Collector, Span
from tests.support.fixtures import StartApp
from tests.support.scripted_upstream import DONE, chunk, sends

USAGE = {
    "prompt_tokens": 20,
    "completion_tokens": 5,
    "prompt_tokens_details": {"cached_tokens": 8},
    "completion_tokens_details": {"reasoning_tokens": 2},
    "cost": 0.25,
}
ANSWER = sends(chunk({"content": "Hello."}), chunk({}, finish="stop", usage=USAGE) + DONE)


def spans_of(start_app: StartApp, collector: Collector, traced: Trace, convention: str) -> tuple[Span, Span]:
    """Run one answer; return the span of the run and that of its model call."""
    traced(OTEL_SEMCONV=convention)
    app, _ = start_app(ANSWER)
    app.ask(tools=[], temperature=0.5, max_tokens=50, conversation_id="talk")
    collector.wait_for_runs()
    return collector.the("invoke_agent"), collector.the("chat openai/sim")


@pytest.mark.parametrize("convention", ["latest", "1.41"])
def test_genai(start_app: StartApp, collector: Collector, traced: Trace, convention: str) -> None:
    """A model call has what its request and its answer say about themselves."""
    _, chat = spans_of(start_app, collector, traced, convention)
    expected = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "openai/sim",
        "gen_ai.response.model": "openai/sim",
        "gen_ai.response.finish_reasons": ["stop"],
        "gen_ai.conversation.id": "talk",
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.max_tokens": 50,
        "gen_ai.request.stream": True,
        "gen_ai.usage.input_tokens": 20,
        "gen_ai.usage.output_tokens": 5,
        "gen_ai.usage.cache_read.input_tokens": 8,
        "gen_ai.usage.reasoning.output_tokens": 2,
        "signalbox.cost_usd": 0.25,
    }
    assert chat.attributes | expected == chat.attributes
    assert chat.attributes["gen_ai.response.time_to_first_chunk"] >= 0


def test_what_the_span_of_a_run_has(start_app: StartApp, collector: Collector, traced: Trace) -> None:
    """`latest` has neither the provider nor the cache there."""
    root, _ = spans_of(start_app, collector, traced, "latest")
    assert root.attributes["gen_ai.usage.input_tokens"] == 20
    assert "gen_ai.provider.name" not in root.attributes
    assert not [name for name in root.attributes if "cache" in name]


def test_what_the_span_of_a_run_had(start_app: StartApp, collector: Collector, traced: Trace) -> None:
    """Version 1.41 has both."""
    root, _ = spans_of(start_app, collector, traced, "1.41")
    assert root.attributes["gen_ai.provider.name"] == "openrouter"
    assert root.attributes["gen_ai.usage.cache_read.input_tokens"] == 8


def test_openinference(start_app: StartApp, collector: Collector, traced: Trace) -> None:
    """Spans have a kind, and only model calls have tokens: Phoenix adds them up."""
    root, chat = spans_of(start_app, collector, traced, "openinference")
    expected = {
        "openinference.span.kind": "LLM",
        "llm.model_name": "openai/sim",
        "llm.provider": "openrouter",
        "llm.finish_reason": "stop",
        "session.id": "talk",
        "llm.token_count.prompt": 20,
        "llm.token_count.completion": 5,
        "llm.token_count.total": 25,
        "llm.token_count.prompt_details.cache_read": 8,
        "llm.token_count.completion_details.reasoning": 2,
        "llm.cost.total": 0.25,
        "llm.invocation_parameters": '{"max_tokens":50,"temperature":0.5}',
    }
    assert chat.attributes | expected == chat.attributes
    assert root.attributes["openinference.span.kind"] == "AGENT"
    assert not [name for name in {**root.attributes, **chat.attributes} if name.startswith("gen_ai.")]
    assert not [name for name in root.attributes if name.startswith("llm.token_count")]


def test_the_default_is_latest(start_app: StartApp, collector: Collector, traced: Trace) -> None:
    """An empty variable counts as none."""
    traced(OTEL_SEMCONV="")
    app, _ = start_app(saying("Hello."))
    app.ask(tools=[])
    collector.wait_for_runs()
    assert "gen_ai.operation.name" in collector.the("invoke_agent").attributes
