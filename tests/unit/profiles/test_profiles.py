"""The lookup of a model's family, and the facts of all families."""

import re

import pytest
from signalbox.chat.calls.ids import make_call_id
from signalbox.profiles import FAMILIES, UNKNOWN, Profile, profile_for


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("anthropic/claude-sonnet-4.5", "anthropic"),
        ("Anthropic/Claude", "anthropic"),
        ("~anthropic/claude-sonnet-4.5", "anthropic"),
        ("claude-fable-5", "anthropic"),
        ("openrouter/anthropic/claude-x", "anthropic"),
        ("openai/gpt-4o-mini", "openai"),
        ("gpt-4.1-mini", "openai"),
        ("o3-mini", "openai"),
        ("google/gemini-3.1-flash-lite-preview", "google"),
        ("gemini-2.5-pro", "google"),
        ("x-ai/grok-4.1-fast", "xai"),
        ("grok-code-fast-1", "xai"),
        ("deepseek/deepseek-v4-flash", "deepseek"),
        ("deepseek-reasoner", "deepseek"),
        ("mistralai/mistral-medium-3.1", "mistral"),
        ("magistral-medium-2507", "mistral"),
        ("moonshotai/kimi-k2.5", "moonshot"),
        ("moonshotai/Kimi-K2-Instruct-0905:groq", "moonshot"),
        ("qwen/qwen3-235b-a22b:free", "qwen"),
        ("qwen3", "qwen"),
        ("llama-3.3-70b-versatile", "unknown"),
        ("replay/chain-024", "unknown"),
        ("meta-llama/llama-4-scout", "unknown"),
        ("", "unknown"),
        ("/", "unknown"),
    ],
)
def test_families(model: str, family: str) -> None:
    """The family is found by vendor, else by name, for ids of OpenRouter, a provider or a gateway."""
    assert profile_for(model).family == family


def test_no_two_families_share_a_vendor() -> None:
    """Each vendor belongs to one family, and each family has one profile."""
    vendors = [vendor for profile in FAMILIES for vendor in profile.vendors]
    assert len(vendors) == len(set(vendors))
    assert len({profile.family for profile in FAMILIES}) == len(FAMILIES)


@pytest.mark.parametrize("profile", [*FAMILIES, UNKNOWN], ids=lambda p: p.family)
def test_every_family_accepts_our_call_ids(profile: Profile) -> None:
    """Call ids that Signalbox generates match every family's pattern (A16)."""
    assert re.fullmatch(profile.call_id, make_call_id("run", 1))


def test_guardrails_by_family() -> None:
    """Only the listed families set a fact that changes every request with tools."""
    by_family = {profile.family: profile for profile in (*FAMILIES, UNKNOWN)}
    assert {f for f, p in by_family.items() if p.parallel_tool_calls is not None} == {"anthropic", "xai"}
    assert {f for f, p in by_family.items() if not p.json_with_tools} == {"google", "xai"}
    assert {f for f, p in by_family.items() if p.echo_reasoning} == {"deepseek", "moonshot"}
