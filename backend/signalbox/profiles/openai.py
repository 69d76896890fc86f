"""OpenAI's models."""

from signalbox.profiles.profile import Profile

PROFILE = Profile(family="openai", vendors=("openai",), names=("gpt-", "o1", "o3", "o4", "chatgpt"))
