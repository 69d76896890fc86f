"""The parameters of a question."""

from typing import Any, Literal, Required, TypedDict


class Question(TypedDict, total=False):
    """The parameters of a question. docs/api.md describes each parameter. `continue_` is the parameter `continue`."""

    model: Required[str]
    messages: list[dict[str, Any]]
    system: str
    tools: list[str]
    tool_choice: str | dict[str, Any]
    parallel_tool_calls: bool
    max_steps: int
    max_searches: int
    max_cost: float
    reasoning: dict[str, Any]
    reasoning_effort: str
    max_tokens: int
    max_completion_tokens: int
    temperature: float
    top_p: float
    top_k: int
    min_p: float
    top_a: float
    frequency_penalty: float
    presence_penalty: float
    repetition_penalty: float
    seed: int
    logprobs: bool
    top_logprobs: int
    logit_bias: dict[str, float]
    response_format: dict[str, Any]
    stop: str | list[str]
    provider: dict[str, Any]
    models: list[str]
    metadata: dict[str, str]
    user: str
    modalities: list[str]
    finalize_hint: str
    conversation_id: str
    parent_id: str | None
    continue_: bool
    column: int
    on_disconnect: Literal["stop", "continue"]
    previews: bool
