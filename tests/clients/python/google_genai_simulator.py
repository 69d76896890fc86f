"""The SDK `google-genai`, which must accept the simulator's Gemini API."""

from collections.abc import Callable, Iterable

from checks import CALCULATION, URL, report
from google import genai
from google.genai import errors, types

MODEL = "sim"
SEARCH = "Search for the tool loop"
SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
CALCULATE = types.FunctionDeclaration(
    name="calculate",
    description="Calculate.",
    parameters_json_schema={
        "type": "object",
        "properties": {"expression": {"type": "string"}},
        "required": ["expression"],
    },
)
SEARCH_WEB = types.FunctionDeclaration(name="search_web", description="Search the web.", parameters=SCHEMA)
CLOCK = types.FunctionDeclaration(name="get_current_time", description="Read the clock.")
TOOLS = [types.Tool(function_declarations=[CALCULATE, SEARCH_WEB, CLOCK])]
THOUGHTS = types.ThinkingConfig(include_thoughts=True)
client = genai.Client(
    api_key="any",
    http_options=types.HttpOptions(
        base_url=f"{URL}/gemini", timeout=10_000, retry_options=types.HttpRetryOptions(attempts=1)
    ),
)
Responses = list[types.GenerateContentResponse]
Ask = Callable[..., Responses]


def whole(model: str, contents: object, **config: object) -> Responses:
    """Ask for an answer that is not streamed."""
    wanted = types.GenerateContentConfig(**config)
    return [client.models.generate_content(model=model, contents=contents, config=wanted)]


def streamed(model: str, contents: object, **config: object) -> Responses:
    """Ask for a stream."""
    wanted = types.GenerateContentConfig(**config)
    return list(client.models.generate_content_stream(model=model, contents=contents, config=wanted))


BOTH = (whole, streamed)


def parts(received: Iterable[types.GenerateContentResponse]) -> list[types.Part]:
    """Return all parts of an answer."""
    contents = [response.candidates[0].content for response in received if response.candidates]
    return [part for content in contents for part in (content.parts or [])]


def text(received: Responses) -> str:
    """Return the text without the thoughts."""
    return "".join(part.text or "" for part in parts(received) if not part.thought)


def finish(received: Responses) -> str:
    """Return the name of the finish reason."""
    return received[-1].candidates[0].finish_reason.name


def answers() -> None:
    """A text has a finish reason, usage and thoughts."""
    for ask in BOTH:
        received = ask(MODEL, "hello", thinking_config=THOUGHTS)
        assert text(received).startswith("Hello!"), text(received)
        assert finish(received) == "STOP"
        assert any(part.thought for part in parts(received))
        counts = received[-1].usage_metadata
        assert counts.total_token_count == (
            counts.prompt_token_count + counts.candidates_token_count + counts.thoughts_token_count
        )
        assert received[-1].model_version == MODEL
        assert received[-1].response_id


def tools_and_signatures() -> None:
    """Calls come back with their signatures over several steps, and the last answer uses the results."""
    for ask in BOTH:
        contents = [types.UserContent(SEARCH)]
        for _ in range(2):
            received = ask("sim-steps-2", contents, tools=TOOLS, thinking_config=THOUGHTS)
            called = [part.function_call for part in parts(received) if part.function_call]
            assert [call.name for call in called] == ["search_web"]
            assert [bool(part.thought_signature) for part in parts(received) if part.function_call] == [True]
            contents += [types.ModelContent(parts(received)), types.UserContent(results(called))]
        received = ask("sim-steps-2", contents, tools=TOOLS)
        assert "A step is one model call." in text(received), text(received)


def results(called: list[types.FunctionCall]) -> list[types.Part]:
    """Return the results of calls."""
    value = {"output": "A step is one model call."}
    made = [types.FunctionResponse(id=call.id, name=call.name, response=value) for call in called]
    return [types.Part(function_response=response) for response in made]


def parallel_calls() -> None:
    """Parallel calls have different ids and one signature."""
    for ask in BOTH:
        received = ask("sim-parallel", SEARCH, tools=TOOLS)
        called = [part for part in parts(received) if part.function_call]
        assert len({part.function_call.id for part in called}) == 3
        assert [bool(part.thought_signature) for part in called] == [True, False, False]
        contents = [types.UserContent(SEARCH), types.ModelContent(parts(received))]
        contents.append(types.UserContent(results([part.function_call for part in called])))
        assert finish(ask("sim-parallel", contents, tools=TOOLS)) == "STOP"


def automatic_calls() -> None:
    """The SDK calls a Python function on its own, and sends its result back."""
    seen: list[str] = []

    def calculate(expression: str) -> str:
        """Calculate an expression."""
        seen.append(expression)
        return "391"

    received = whole(MODEL, CALCULATION, tools=[calculate])
    assert len(seen) == 1
    assert "391" in text(received), text(received)


def chat() -> None:
    """A conversation of the SDK keeps the history, signatures included."""
    conversation = client.chats.create(model=MODEL)
    conversation.send_message("hello")
    assert conversation.send_message("thanks").text
    assert "".join(chunk.text or "" for chunk in conversation.send_message_stream("hello"))


def altered_signatures() -> None:
    """An altered signature and a missing one are rejected."""
    received = whole(MODEL, SEARCH, tools=TOOLS)
    [called] = [part for part in parts(received) if part.function_call]
    for signature, message in ((called.thought_signature[:-3] + b"abc", "Corrupted"), (None, "missing a thought")):
        altered = called.model_copy(update={"thought_signature": signature})
        contents = [types.UserContent(SEARCH), types.ModelContent([altered])]
        contents.append(types.UserContent(results([called.function_call])))
        error = error_of(lambda sent=contents: whole(MODEL, sent, tools=TOOLS))
        assert (error.code, error.status) == (400, "INVALID_ARGUMENT")
        assert message in error.message


def endings() -> None:
    """Every finish reason is one that the SDK knows."""
    for ask in BOTH:
        for model, reason in (
            ("sim-length", "MAX_TOKENS"),
            ("sim-length-empty", "MAX_TOKENS"),
            ("sim-filter", "SAFETY"),
            ("sim-empty", "STOP"),
            ("sim-quirk-a13-always", "MALFORMED_FUNCTION_CALL"),
            ("sim-quirk-a13-unexpected-always", "UNEXPECTED_TOOL_CALL"),
        ):
            assert finish(ask(model, SEARCH, tools=TOOLS)) == reason, model
        [blocked] = ask("sim-refusal", SEARCH)
        assert blocked.prompt_feedback.block_reason.name == "PROHIBITED_CONTENT"
        assert not blocked.candidates


def error_of(call: Callable[[], object]) -> errors.APIError:
    """Return the error that a call raises."""
    try:
        call()
    except errors.APIError as error:
        return error
    raise AssertionError("no error")


def http_errors() -> None:
    """Errors have their code, status word and message, streamed or not."""
    for ask in BOTH:
        for code, word in ((400, "INVALID_ARGUMENT"), (429, "RESOURCE_EXHAUSTED"), (503, "UNAVAILABLE")):
            error = error_of(lambda ask=ask, code=code: ask(f"sim-error-{code}", SEARCH))
            assert (error.code, error.status) == (code, word)
        assert error_of(lambda ask=ask: ask("nothing-like-that", SEARCH)).code == 404
        error = error_of(lambda ask=ask: ask(MODEL, [types.UserContent(SEARCH), types.UserContent(results([CALL]))]))
        assert "immediately after a function call turn" in error.message


CALL = types.FunctionCall(name="search_web", args={"query": "x"})


def errors_in_streams() -> None:
    """An error in the middle of a stream is raised."""
    error = error_of(lambda: streamed("sim-midstream-error", SEARCH))
    assert (error.code, error.status) == (503, "UNAVAILABLE")


def options() -> None:
    """Forced calls, calls turned off, JSON answers, limits, images."""
    for ask in BOTH:
        forced = types.FunctionCallingConfig(mode="ANY", allowed_function_names=["calculate"])
        received = ask(MODEL, "Write a poem", tools=TOOLS, tool_config=types.ToolConfig(function_calling_config=forced))
        assert [part.function_call.name for part in parts(received) if part.function_call] == ["calculate"]
        none = types.FunctionCallingConfig(mode="NONE")
        received = ask(MODEL, SEARCH, tools=TOOLS, tool_config=types.ToolConfig(function_calling_config=none))
        assert text(received)
        assert finish(ask(MODEL, "hello", max_output_tokens=25)) == "MAX_TOKENS"
        received = ask(MODEL, "hello", response_mime_type="application/json", system_instruction="Be brief.")
        assert text(received)
        received = ask("gemini-2.5-flash-image", "Draw the sea", response_modalities=["TEXT", "IMAGE"])
        assert [part.inline_data.mime_type for part in parts(received) if part.inline_data] == ["image/png"]


def models() -> None:
    """The list is paged; the SDK fetches all pages; tokens are counted."""
    names = [model.name for model in client.models.list(config={"page_size": 2})]
    assert "models/sim" in names
    assert len(names) == len(set(names))
    assert client.models.get(model=MODEL).input_token_limit == 1_048_576
    assert client.models.count_tokens(model=MODEL, contents="hello").total_tokens > 0


report(
    answers,
    tools_and_signatures,
    parallel_calls,
    automatic_calls,
    chat,
    altered_signatures,
    endings,
    http_errors,
    errors_in_streams,
    options,
    models,
)
