"""The `anthropic` package against the simulator's Messages API: it validates every answer, streamed and whole."""

import os
from typing import Any

import anthropic
from anthropic import Anthropic, beta_tool
from checks import URL, report

os.environ.pop("ANTHROPIC_API_KEY", None)
CLIENT = Anthropic(base_url=f"{URL}/anthropic", api_key="unused", max_retries=0, _strict_response_validation=True)
QUESTION = "Search for replay, then calculate 2+2"
BUDGET: Any = {"type": "enabled", "budget_tokens": 1024}
ADAPTIVE: Any = {"type": "adaptive", "display": "summarized"}
TOOLS: Any = [
    {
        "name": name,
        "description": name,
        "input_schema": {"type": "object", "properties": {key: {"type": "string"}}, "required": [key]},
    }
    for name, key in (("search_web", "query"), ("calculate", "expression"))
]
ENDINGS = {
    "sim": "tool_use",
    "sim-parallel": "tool_use",
    "sim-empty": "end_turn",
    "sim-length": "max_tokens",
    "sim-refusal": "refusal",
    "sim-filter": "refusal",
    "sim-pause": "pause_turn",
    "sim-window": "model_context_window_exceeded",
    "sim-server-search": "end_turn",
    "sim-redacted": "tool_use",
}


def asked(model: str, **fields: Any) -> dict[str, Any]:
    """Return the arguments of a request."""
    messages = [{"role": "user", "content": QUESTION}]
    return {"model": model, "max_tokens": 2000, "tools": TOOLS, "messages": messages, **fields}


def whole_endings() -> None:
    """Every stop reason and every block has the SDK's types."""
    for model, reason in ENDINGS.items():
        message = CLIENT.messages.create(**asked(model, thinking=BUDGET))
        assert message.stop_reason == reason, (model, message.stop_reason)
        assert message.usage.output_tokens_details is not None


def streamed_endings() -> None:
    """The SDK puts the same message together from the events."""
    for model, reason in ENDINGS.items():
        with CLIENT.messages.stream(**asked(model, thinking=BUDGET)) as stream:
            streamed = stream.get_final_message()
        whole = CLIENT.messages.create(**asked(model, thinking=BUDGET))
        assert streamed.stop_reason == reason, (model, streamed.stop_reason)
        assert [_content(block) for block in streamed.content] == [_content(block) for block in whole.content], model
        assert streamed.usage.output_tokens == whole.usage.output_tokens
        assert streamed.stop_details == whole.stop_details


def _content(block: Any) -> dict[str, Any]:
    """Return the fields of a block without the id, which differs between requests."""
    return {
        name: value
        for name, value in block.model_dump(exclude_none=True).items()
        if name not in ("id", "parsed_output")
    }


def thinking_loop() -> None:
    """The SDK's blocks go back as they are, over several steps; the signatures are accepted."""
    for model, thinking in (("claude-sonnet-4-5", BUDGET), ("claude-opus-4-8", ADAPTIVE), ("sim-redacted", BUDGET)):
        messages: list[Any] = [{"role": "user", "content": QUESTION}]
        steps = 0
        while True:
            steps += 1
            arguments = {**asked(model, thinking=thinking), "messages": messages}
            with CLIENT.messages.stream(**arguments) as stream:
                message = stream.get_final_message()
            if message.stop_reason != "tool_use":
                break
            results = [
                {"type": "tool_result", "tool_use_id": block.id, "content": '{"success": true, "result": "4"}'}
                for block in message.content
                if block.type == "tool_use"
            ]
            messages += [{"role": "assistant", "content": message.content}, {"role": "user", "content": results}]
        assert (message.stop_reason, steps) == ("end_turn", 3), model


def altered_thinking() -> None:
    """A changed signature is a BadRequestError."""
    message = CLIENT.messages.create(**asked("sim", thinking=BUDGET))
    content = [block.model_dump(exclude_none=True) for block in message.content]
    content[0]["signature"] = content[0]["signature"][::-1]
    results = [
        {"type": "tool_result", "tool_use_id": block["id"], "content": "4"}
        for block in content
        if block["type"] == "tool_use"
    ]
    talk = [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": content}]
    try:
        CLIENT.messages.create(**asked("sim", thinking=BUDGET, messages=[*talk, {"role": "user", "content": results}]))
    except anthropic.BadRequestError as error:
        assert "Invalid `signature` in `thinking` block" in error.message
    else:
        raise AssertionError("the simulator accepted a changed signature")


def tool_runner() -> None:
    """The SDK's loop falls back from threads to the full history, runs the tool, and ends."""

    @beta_tool
    def calculate(expression: str) -> str:
        """Calculate.

        Args:
            expression: What to calculate.
        """
        return f"{expression} = 391"

    question: Any = [{"role": "user", "content": "What is 17 * 23?"}]
    runner = CLIENT.beta.messages.tool_runner(model="sim", max_tokens=2000, tools=[calculate], messages=question)
    last = runner.until_done()
    assert last.stop_reason == "end_turn"
    assert "391" in "".join(block.text for block in last.content if block.type == "text")


def stop_sequence() -> None:
    """The sequence is named."""
    message = CLIENT.messages.create(**asked("sim", tools=anthropic.omit, stop_sequences=["I"]))
    assert (message.stop_reason, message.stop_sequence) == ("stop_sequence", "I")


def errors() -> None:
    """Each status is the SDK's exception of this status, with the request's id."""
    kinds: dict[int, type[anthropic.APIStatusError]] = {
        400: anthropic.BadRequestError,
        401: anthropic.AuthenticationError,
        402: anthropic.PaymentRequiredError,
        403: anthropic.PermissionDeniedError,
        404: anthropic.NotFoundError,
        413: anthropic.ContentTooLargeError,
        429: anthropic.RateLimitError,
        500: anthropic.InternalServerError,
        529: anthropic.OverloadedError,
    }
    for status, kind in kinds.items():
        try:
            CLIENT.messages.create(**asked(f"sim-error-{status}"))
        except anthropic.APIStatusError as error:
            assert isinstance(error, kind), (status, type(error))
            assert (error.status_code, bool(error.request_id)) == (status, True)
        else:
            raise AssertionError(f"no error for {status}")


def errors_in_streams() -> None:
    """An `error` event is an APIStatusError, and a cut connection an error of any kind."""
    for model in ("sim-midstream-error", "sim-cut"):
        try:
            with CLIENT.messages.stream(**asked(model)) as stream:
                stream.get_final_message()
        except anthropic.APIStatusError as error:
            assert model == "sim-midstream-error", error
            assert "Overloaded" in str(error)
        except Exception:  # noqa: BLE001 - the SDK passes on the errors of its HTTP client
            assert model == "sim-cut"
        else:
            raise AssertionError(f"{model} ended without an error")


def models() -> None:
    """The list has the SDK's types, over several pages."""
    listed = list(CLIENT.models.list(limit=3))
    assert len(listed) > 6
    for model in listed:
        assert model.capabilities is not None
        assert CLIENT.models.retrieve(model.id).id == model.id


def prompt_cache() -> None:
    """The second request reads what the first has written."""
    system: Any = [{"type": "text", "text": "Be brief. " * 700, "cache_control": {"type": "ephemeral"}}]
    first, second = (CLIENT.messages.create(**asked("sim", system=system)).usage for _ in range(2))
    assert first.cache_creation_input_tokens == second.cache_read_input_tokens
    assert first.cache_creation_input_tokens


def count() -> None:
    """Tokens are counted as in the answer's usage."""
    arguments = asked("sim")
    arguments.pop("max_tokens")
    counted = CLIENT.messages.count_tokens(**arguments).input_tokens
    assert counted == CLIENT.messages.create(**asked("sim")).usage.input_tokens


report(
    whole_endings,
    streamed_endings,
    thinking_loop,
    altered_thinking,
    tool_runner,
    stop_sequence,
    errors,
    errors_in_streams,
    models,
    prompt_cache,
    count,
)
