"""OpenAI's models."""

from signalbox.profiles.profile import Profile

PROFILE = Profile(
    family="openai",
    vendors=("openai",),
    names=("gpt-", "o1", "o3", "o4", "chatgpt"),
    strict_tools=True,
    # 400 "Invalid 'tool_calls[0].id': string too long", maximum length 40 (vercel/ai#5171).
    call_id=r"[\w.:\-]{1,40}",
)
