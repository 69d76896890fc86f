"""xAI's Grok models."""

from signalbox.profiles.profile import Profile

PROFILE = Profile(
    family="xai",
    vendors=("x-ai", "xai"),
    names=("grok",),
    # One call at a time, and no response_format together with tools, which returns a 400 (seed-systems PS-12).
    parallel_tool_calls=False,
    json_with_tools=False,
)
