"""Which providers stop billing when a request is aborted."""

# The names are those that OpenRouter reports. Source: "Stream cancellation" in OpenRouter's page on streaming
# (openrouter.ai/docs/api-reference/streaming, a stored copy of unknown age; quirk E3).
# If a streamed request is aborted, these providers stop the model and the billing at once.
_STOPS_BILLING = """
    OpenAI, Azure, Anthropic, Fireworks, Mancer, Mancer 2, Recursal, AnyScale, Lepton, OctoAI, Novita, NovitaAI,
    DeepInfra, Together, Cohere, Hyperbolic, Infermatic, Avian, xAI, Cloudflare, SFCompute, Nineteen, Liquid, Friendli,
    Chutes, DeepSeek
"""
# At these, the model continues, and the complete answer is billed.
_CONTINUES = """
    Amazon Bedrock, AWS Bedrock, Groq, Modal, Google, Google Vertex, Google AI Studio, Minimax, HuggingFace, Replicate,
    Perplexity, Mistral, AI21, Featherless, Lynn, Lambda, Reflection, SambaNova, Inflection, ZeroOneAI, 01.AI, AionLabs,
    Alibaba, Nebius, Nebius AI Studio, Kluster, Targon, InferenceNet
"""


def _normalized(name: str) -> str:
    """Normalize a name: `xAI` and `XAI`, `Mancer 2` and `Mancer2` are equal."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


_BY_NAME = {_normalized(name): True for name in _STOPS_BILLING.split(",")} | {
    _normalized(name): False for name in _CONTINUES.split(",")
}


def stop_ends_billing(provider: str | None, *, streamed: bool) -> bool | None:
    """Return whether aborting a request also ends the provider's billing; None if unknown.

    According to the same page, no provider stops billing a request that is not streamed.
    """
    if provider is None:
        return None
    return _BY_NAME.get(_normalized(provider)) if streamed else False
