"""What is known of hosts: whether a stop ends the billing."""

import pytest
from signalbox.profiles.hosts import stop_ends_billing


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
def test_e03_whether_a_stop_ends_the_billing(provider: str | None, ends: bool | None) -> None:
    """The names are those that OpenRouter reports; a host that its page does not list is not guessed at."""
    assert stop_ends_billing(provider, streamed=True) is ends


@pytest.mark.parametrize("provider", ["OpenAI", "Groq", "AtlasCloud"])
def test_e03_a_whole_answer_is_billed_in_full(provider: str) -> None:
    """Only streams can be cancelled, wherever they run."""
    assert stop_ends_billing(provider, streamed=False) is False
    assert stop_ends_billing(None, streamed=False) is None
