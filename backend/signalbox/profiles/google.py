"""Google's Gemini and Gemma models."""

from signalbox.profiles.profile import Profile

PROFILE = Profile(family="google", vendors=("google",), names=("gemini", "gemma"))
