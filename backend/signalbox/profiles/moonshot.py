"""Moonshot's Kimi models."""

from signalbox.profiles.profile import Profile

PROFILE = Profile(
    family="moonshot",
    vendors=("moonshotai", "moonshot"),
    names=("kimi", "moonshot"),
    # Like DeepSeek's, Kimi's thinking models expect their reasoning to be sent back inside a tool loop.
    echo_reasoning=True,
)
