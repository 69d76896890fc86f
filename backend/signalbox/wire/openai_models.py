"""What OpenAI's models accept, by their names: OpenAI's list of models has only ids.

Models of other vendors, and deployments with names of their users, have no restrictions here: their server decides.
"""

import re

from signalbox.core.params import Reasoning

# Bedrock calls them `openai.gpt-…`, OpenRouter `openai/gpt-…`.
BEGIN = r"(?:^|/|^openai\.)"
# "Encrypted content is not supported with this model.", "Unsupported parameter: 'reasoning.effort' is not supported
# with this model." (microsoft/agent-framework#7483).
_PLAIN = re.compile(BEGIN + r"(?:gpt-3|gpt-4|chatgpt-|gpt-5[\d.]*-chat)")
# These models reject a temperature: "Unsupported parameter: 'temperature' is not supported with this model."
_REASONING = re.compile(BEGIN + r"(?:o\d|codex-|gpt-5(?![\d.]*-chat|\.\d))")
# These models accept a temperature only without reasoning (vercel/ai#10932, langchain-ai/langchain#35423).
_EITHER = re.compile(BEGIN + r"gpt-(?:5\.\d|[6-9])")
SAMPLING = ("temperature", "top_p", "logprobs", "top_logprobs")


def reasons(model: str) -> bool:
    """Whether a model may reason."""
    return _PLAIN.search(model) is None


def samples(model: str, reasoning: Reasoning | None) -> bool:
    """Whether a model accepts a temperature, and log probabilities of its tokens, with this reasoning."""
    if _REASONING.search(model):
        return False
    wants = reasoning is not None and reasoning.enabled is not False and reasoning.effort not in (None, "none")
    return not (wants and _EITHER.search(model))


def limits_completions(model: str) -> bool:
    """Whether chat completions of a model have their limit under the newer name, `max_completion_tokens`.

    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    """
    return _REASONING.search(model) is not None or _EITHER.search(model) is not None
