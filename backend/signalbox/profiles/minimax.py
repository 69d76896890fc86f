"""MiniMax's models."""

from signalbox.profiles.profile import Profile

PROFILE = Profile(
    family="minimax",
    vendors=("minimax", "minimaxai"),
    names=("minimax",),
    # M2.x sends its reasoning in content, with both tags or only one (litellm#30796).
    inline_think=True,
)
