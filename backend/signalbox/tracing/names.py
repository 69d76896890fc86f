"""The names of span attributes in three conventions; `OTEL_SEMCONV` chooses one.

`latest` is version 0.1 of OpenTelemetry's GenAI conventions, which have their own repository since. `1.41` is the last
version in the general conventions. `openinference` is what Arize Phoenix reads.
"""

from dataclasses import dataclass, replace

ERROR_TYPE = "error.type"
USER = "user.id"

# Attributes and events that no convention has.
RUN_ID = "signalbox.run.id"
REQUEST_ID = "signalbox.request.id"
STATUS = "signalbox.run.status"
CODE = "signalbox.run.code"
LOOP = "signalbox.loop"
PROTOCOL = "signalbox.protocol"
UPSTREAM = "signalbox.upstream"
SERVED_BY = "signalbox.served_by"
SIMULATED = "signalbox.simulated"
RECOVERED = "signalbox.recovered"
STEP = "signalbox.step"
STEPS = "signalbox.steps"
ATTEMPT = "signalbox.attempt"
ATTEMPTS = "signalbox.attempts"
IS_FINAL = "signalbox.finalize"
COST = "signalbox.cost_usd"
FIRST_CHUNK = "signalbox.first_chunk"
RETRY = "signalbox.retry"
RETRY_WAIT = "signalbox.retry.wait_seconds"
RETRY_CODES = "signalbox.retry.changes"
CALL_ID = "signalbox.tool_call.id"
CALL_REJECTED = "signalbox.tool_call.rejected"
CALL_REUSED = "signalbox.tool_call.reused"


@dataclass(frozen=True, slots=True)
class Names:
    """The attribute names of one convention; an empty name is not emitted.

    `agent_provider`, `agent_usage` and `agent_cache`: whether the span of a run has the provider, the sum of its
    tokens, and those of the cache. `kinds` are the values of `span_kind` for a run, a model call and a tool.
    """

    operation: str = ""
    span_kind: str = ""
    kinds: tuple[str, str, str] = ("", "", "")
    provider: str = ""
    conversation: str = ""
    request_model: str = ""
    response_model: str = ""
    response_id: str = ""
    finish_reason: str = ""
    finish_reasons: str = ""
    time_to_first_chunk: str = ""
    stream: str = ""
    max_tokens: str = ""
    temperature: str = ""
    top_p: str = ""
    frequency_penalty: str = ""
    presence_penalty: str = ""
    seed: str = ""
    reasoning_level: str = ""
    invocation_parameters: str = ""
    input_tokens: str = ""
    output_tokens: str = ""
    total_tokens: str = ""
    cache_read: str = ""
    cache_write: str = ""
    reasoning_tokens: str = ""
    cost: str = COST
    tool_name: str = ""
    tool_type: str = ""
    tool_call_id: str = ""
    tool_arguments: str = ""
    tool_result: str = ""
    input_messages: str = ""
    output_messages: str = ""
    system_instructions: str = ""
    input_value: str = ""
    output_value: str = ""
    agent_provider: bool = False
    agent_usage: bool = True
    agent_cache: bool = False


V1_41 = Names(
    operation="gen_ai.operation.name",
    provider="gen_ai.provider.name",
    conversation="gen_ai.conversation.id",
    request_model="gen_ai.request.model",
    response_model="gen_ai.response.model",
    response_id="gen_ai.response.id",
    finish_reasons="gen_ai.response.finish_reasons",
    time_to_first_chunk="gen_ai.response.time_to_first_chunk",
    stream="gen_ai.request.stream",
    max_tokens="gen_ai.request.max_tokens",
    temperature="gen_ai.request.temperature",
    top_p="gen_ai.request.top_p",
    frequency_penalty="gen_ai.request.frequency_penalty",
    presence_penalty="gen_ai.request.presence_penalty",
    seed="gen_ai.request.seed",
    input_tokens="gen_ai.usage.input_tokens",
    output_tokens="gen_ai.usage.output_tokens",
    cache_read="gen_ai.usage.cache_read.input_tokens",
    cache_write="gen_ai.usage.cache_creation.input_tokens",
    reasoning_tokens="gen_ai.usage.reasoning.output_tokens",
    tool_name="gen_ai.tool.name",
    tool_type="gen_ai.tool.type",
    tool_call_id="gen_ai.tool.call.id",
    tool_arguments="gen_ai.tool.call.arguments",
    tool_result="gen_ai.tool.call.result",
    input_messages="gen_ai.input.messages",
    output_messages="gen_ai.output.messages",
    system_instructions="gen_ai.system_instructions",
    agent_provider=True,
    agent_cache=True,
)
LATEST = replace(
    V1_41,
    cache_write="gen_ai.usage.cache_write.input_tokens",
    reasoning_level="gen_ai.request.reasoning.level",
    agent_provider=False,
    agent_cache=False,
)
# Phoenix adds the tokens of the model calls below a run: the run itself must not repeat them.
OPENINFERENCE = Names(
    span_kind="openinference.span.kind",
    kinds=("AGENT", "LLM", "TOOL"),
    provider="llm.provider",
    conversation="session.id",
    request_model="llm.model_name",
    response_model="llm.response.model_name",
    finish_reason="llm.finish_reason",
    invocation_parameters="llm.invocation_parameters",
    input_tokens="llm.token_count.prompt",
    output_tokens="llm.token_count.completion",
    total_tokens="llm.token_count.total",
    cache_read="llm.token_count.prompt_details.cache_read",
    cache_write="llm.token_count.prompt_details.cache_write",
    reasoning_tokens="llm.token_count.completion_details.reasoning",
    cost="llm.cost.total",
    tool_name="tool.name",
    tool_call_id="tool.id",
    tool_arguments="input.value",
    tool_result="output.value",
    input_messages="llm.input_messages",
    output_messages="llm.output_messages",
    input_value="input.value",
    output_value="output.value",
    agent_usage=False,
)

CONVENTIONS = {"latest": LATEST, "1.41": V1_41, "openinference": OPENINFERENCE}

# The provider names of the GenAI conventions, by dialect. A server that speaks OpenAI's API counts as openai.
PROVIDERS = {
    "anthropic-messages": "anthropic",
    "gemini": "gcp.gemini",
    "openai-chat": "openai",
    "openai-responses": "openai",
    "openrouter-chat": "openrouter",
}
