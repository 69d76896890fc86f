"""DeepSeek's models."""

from signalbox.profiles.profile import Profile

PROFILE = Profile(
    family="deepseek",
    vendors=("deepseek", "deepseek-ai"),
    names=("deepseek",),
    # 400 "Missing reasoning_content": it must go back inside a tool loop (continuedev/continue#10193, opencode#24901).
    echo_reasoning=True,
    # R1 and its distills on Groq and llama.cpp answer "<think>…</think>" in content (recorded).
    inline_think=True,
)
