"""Alibaba's Qwen models."""

from signalbox.profiles.profile import Profile

PROFILE = Profile(
    family="qwen",
    vendors=("qwen", "alibaba"),
    names=("qwen", "qwq"),
    # Providers without a reasoning parser leave the tags in content (qwen-code#6033, #8818).
    inline_think=True,
    # DashScope: tool_choice must be auto or none in thinking mode (cloudwego/eino#994).
    forced_calls_with_reasoning=False,
    # Qwen3's hybrid models think by default (enable_thinking is true unless set: mybigday/llama.rn#139).
    reasons_by_default=True,
)
