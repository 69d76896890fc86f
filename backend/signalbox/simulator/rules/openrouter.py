"""Rules of OpenRouter itself: unsupported features, context length, credit."""

import re

import orjson

from ..catalog import LONGEST_ANSWER, row_of
from ..completion import estimate_tokens
from ..http.errors import Rejected
from ..http.incoming import Incoming, Message, calls_of, text_of
from ..json_values import as_object, as_objects
from .provider_errors import Rule

# The parameters that a provider must support. Other fields (messages, provider, session_id …) are OpenRouter's own.
_PARAMETERS = (
    "frequency_penalty include_reasoning logit_bias logprobs max_completion_tokens max_tokens min_p "
    "parallel_tool_calls presence_penalty reasoning reasoning_effort repetition_penalty response_format seed stop "
    "structured_outputs temperature tool_choice tools top_a top_k top_logprobs top_p verbosity"
)
ROUTED_BY = frozenset(_PARAMETERS.split())
_AFFORDS = re.compile(r"sim-afford-(\d+)")
_ROUTING = "To learn more about provider routing, visit: https://openrouter.ai/docs/provider-routing"


def tools_need_an_endpoint(incoming: Incoming) -> None:
    """A model that supports no tools has no endpoint for a request with tools (quirk C2)."""
    if incoming.body.get("tools") and "tools" not in row_of(incoming.model).parameters:
        named = f'"{incoming.tools[0].name}"' if incoming.tools else "tools"
        raise Rejected(404, f"No endpoints found that support tool use. Try disabling {named}. {_ROUTING}")


def images_need_an_endpoint(incoming: Incoming) -> None:
    """A model that accepts only text has no endpoint for a request with images."""
    parts = (part for message in incoming.messages for part in as_objects(message.get("content")))
    if not row_of(incoming.model).images and any(part.get("type") == "image_url" for part in parts):
        raise Rejected(404, "No endpoints found that support image input")


def modalities_need_an_endpoint(incoming: Incoming) -> None:
    """A model that does not draw has no endpoint for a request for images."""
    if set(incoming.modalities) - set(row_of(incoming.model).outputs):
        named = ", ".join(incoming.modalities)
        raise Rejected(404, f"No endpoints found that support the requested output modalities: {named}")


def parameters_need_an_endpoint(incoming: Incoming) -> None:
    """With `require_parameters`, the model must support every parameter of the request (quirks C1, C13)."""
    if as_object(incoming.body.get("provider")).get("require_parameters") is not True:
        return
    if (ROUTED_BY & incoming.body.keys()) - set(row_of(incoming.model).parameters):
        raise Rejected(404, f"No endpoints found that can handle the requested parameters. {_ROUTING}")


def affordable_tokens(name: str) -> int | None:
    """Return the tokens that the account of `sim-afford-N` can pay for, None for other models."""
    affords = _AFFORDS.fullmatch(name)
    return int(affords[1]) if affords else None


def credits_cover_the_answer(incoming: Incoming) -> None:
    """`sim-afford-N` has credit for N tokens; without max_tokens, the longest answer counts (quirk C13)."""
    affords = affordable_tokens(incoming.plain_model.partition("/")[2])
    requested = incoming.max_tokens or LONGEST_ANSWER
    if affords is not None and (requested > affords or affords == 0):
        text = (
            f"This request requires more credits, or fewer max_tokens. You requested up to {requested} tokens, but can "
            f"only afford {affords}. To increase, visit https://openrouter.ai/settings/credits and add more credits"
        )
        raise Rejected(402, text, metadata={"provider_name": None})


def context_is_long_enough(incoming: Incoming) -> None:
    """Messages and tools fit the context window: four characters per token, max_tokens not counted."""
    window = row_of(incoming.model).context
    texts = sum(estimate_tokens(_written(message)) for message in incoming.messages)
    tools = estimate_tokens(orjson.dumps(incoming.body["tools"]).decode()) if incoming.body.get("tools") else 0
    if texts + tools <= window:
        return
    of_tools = f", {tools} of tool input" if tools else ""
    text = (
        f"This endpoint's maximum context length is {window} tokens. However, you requested about {texts + tools} "
        f"tokens ({texts} of text input{of_tools}). Please reduce the length of either one, or use the "
        '"middle-out" transform to compress your prompt automatically.'
    )
    raise Rejected(400, text, metadata={"provider_name": None, "error_type": "context_length_exceeded"})


def _written(message: Message) -> str:
    calls = (as_object(call["function"]) for call in calls_of(message))
    return text_of(message) + "".join(call["name"] + call["arguments"] for call in calls)


def one_reasoning_budget(incoming: Incoming) -> None:
    """Reasoning has an effort or max_tokens, not both (quirk B9)."""
    wanted = as_object(incoming.body.get("reasoning"))
    if wanted.get("effort") and wanted.get("max_tokens"):
        raise Rejected(400, 'Only one of "reasoning.effort" and "reasoning.max_tokens" can be specified')


ROUTER_RULES: tuple[Rule, ...] = (
    one_reasoning_budget,
    tools_need_an_endpoint,
    images_need_an_endpoint,
    modalities_need_an_endpoint,
    parameters_need_an_endpoint,
    credits_cover_the_answer,
    context_is_long_enough,
)
