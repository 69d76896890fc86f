"""DeepSeek's models."""

from signalbox.profiles.profile import Profile

PROFILE = Profile(
    family="deepseek",
    vendors=("deepseek", "deepseek-ai"),
    names=("deepseek",),
    # 400 "Missing reasoning_content": it must go back inside a tool loop (continuedev/continue#10193, opencode#24901).
    echo_reasoning=True,
    # R1 and its distills send "<think>…</think>" in content on Groq and llama.cpp (recorded).
    inline_think=True,
    # V4 rejects a forced tool_choice while it thinks (DeepSeek-V3#1376, litellm#37470, oh-my-pi#7317).
    forced_calls_with_reasoning=False,
    # V4 thinks by default, so a forced tool_choice is rejected even if the request does not mention reasoning
    # (DeepSeek-V3#1376).
    reasons_by_default=True,
)
