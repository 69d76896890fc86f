"""Moonshot's Kimi models."""

from signalbox.profiles.profile import Profile

PROFILE = Profile(
    family="moonshot",
    vendors=("moonshotai", "moonshot"),
    names=("kimi", "moonshot"),
    # Kimi's thinking models are trained to see their reasoning inside a tool loop, as DeepSeek's are.
    echo_reasoning=True,
)
