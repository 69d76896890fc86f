"""xAI's Grok models."""

from signalbox.profiles.profile import Profile

PROFILE = Profile(
    family="xai",
    vendors=("x-ai", "xai"),
    names=("grok",),
    # The plan's guardrails: one call at a time, and no response_format beside tools (400 from xAI's hosts).
    parallel_tool_calls=False,
    json_with_tools=False,
)
