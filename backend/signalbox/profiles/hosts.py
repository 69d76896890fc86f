"""Facts about providers, by the name that OpenRouter reports."""

# OpenRouter's page on streaming, "Stream cancellation" (openrouter.ai/docs/api-reference/streaming, a stored copy whose
# age is unknown; quirk E3): aborting a streamed request stops the model and the billing at once at these providers …
_ENDS = """
    OpenAI, Azure, Anthropic, Fireworks, Mancer, Mancer 2, Recursal, AnyScale, Lepton, OctoAI, Novita, NovitaAI,
    DeepInfra, Together, Cohere, Hyperbolic, Infermatic, Avian, xAI, Cloudflare, SFCompute, Nineteen, Liquid, Friendli,
    Chutes, DeepSeek
"""
# … and at these the model continues, and the whole answer is billed.
_GOES_ON = """
    Amazon Bedrock, AWS Bedrock, Groq, Modal, Google, Google Vertex, Google AI Studio, Minimax, HuggingFace, Replicate,
    Perplexity, Mistral, AI21, Featherless, Lynn, Lambda, Reflection, SambaNova, Inflection, ZeroOneAI, 01.AI, AionLabs,
    Alibaba, Nebius, Nebius AI Studio, Kluster, Targon, InferenceNet
"""


def _plain(name: str) -> str:
    """Normalize a name: `xAI` and `XAI`, `Mancer 2` and `Mancer2` are equal."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


_ENDS_BILLING = {_plain(name): True for name in _ENDS.split(",")} | {
    _plain(name): False for name in _GOES_ON.split(",")
}


def stop_ends_billing(provider: str | None, *, streamed: bool) -> bool | None:
    """Return whether a stop also ends the billing on that host; None where that is unknown.

    The same page: a request that is not streamed goes on and is billed in full on every host.
    """
    if provider is None:
        return None
    return _ENDS_BILLING.get(_plain(provider)) if streamed else False
