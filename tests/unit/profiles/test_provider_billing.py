"""Which providers stop billing when a request is aborted."""

import pytest
from signalbox.profiles.provider_billing import stop_ends_billing


@pytest.mark.parametrize(
    ("provider", "ends"),
    [
        ("OpenAI", True),
        ("Anthropic", True),
        ("xAI", True),
        ("XAI", True),
        ("Mancer 2", True),
        ("Amazon Bedrock", False),
        ("Groq", False),
        ("Google", False),
        ("Google AI Studio", False),
        ("Google Vertex", False),
        ("Mistral", False),
        ("Minimax", False),
        ("SambaNova", False),
        ("Nebius AI Studio", False),
        ("AtlasCloud", None),
        ("", None),
        (None, None),
    ],
)
def test_e03_aborted_streams(provider: str | None, ends: bool | None) -> None:
    """The result is known only for providers that OpenRouter lists, in any spelling of their names."""
    assert stop_ends_billing(provider, streamed=True) is ends


@pytest.mark.parametrize("provider", ["OpenAI", "Groq", "AtlasCloud"])
def test_e03_answers_that_are_not_streamed(provider: str) -> None:
    """No provider stops billing an answer that is not streamed."""
    assert stop_ends_billing(provider, streamed=False) is False
    assert stop_ends_billing(None, streamed=False) is None
