"""Which model answered, by the name that the provider reports."""

import pytest
from signalbox.chat.answer.answering_model import fallback_that_answered

FALLBACKS = ("openai/gpt-5-mini", "anthropic/claude-sonnet-4.5")


@pytest.mark.parametrize(
    ("served", "fallback"),
    [
        (None, None),
        ("openai/gpt-5", None),
        ("openai/gpt-5-2026-08-07", None),
        ("openai/gpt-5-mini", "openai/gpt-5-mini"),
        ("openai/gpt-5-mini-2026-08-07", "openai/gpt-5-mini"),
        ("anthropic/claude-sonnet-4.5", "anthropic/claude-sonnet-4.5"),
        ("google/gemini-3-pro", "google/gemini-3-pro"),
    ],
)
def test_the_longest_id_counts(served: str | None, fallback: str | None) -> None:
    """Providers append dates, and one id may begin with another."""
    assert fallback_that_answered(served, ("openai/gpt-5:nitro", ""), FALLBACKS) == fallback


def test_an_upstream_may_know_the_model_by_another_id() -> None:
    """Both ids are the requested model."""
    assert fallback_that_answered("vendor/one", ("acme/one", "vendor/one"), FALLBACKS) is None


def test_without_fallbacks_the_requested_model_answers() -> None:
    """Whatever the provider calls it."""
    assert fallback_that_answered("other/name", ("acme/one",), ()) is None


def test_a_model_twice_is_the_requested_one() -> None:
    """A request may name it among its fallbacks."""
    assert fallback_that_answered("a/b", ("a/b",), ("a/b", "c/d")) is None
