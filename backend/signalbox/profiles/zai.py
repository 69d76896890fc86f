"""Z.ai's GLM models."""

from signalbox.profiles.profile import Profile

PROFILE = Profile(
    family="zai",
    vendors=("z-ai", "zai", "zai-org", "thudm"),
    names=("glm",),
    # A stray "</think>" at the beginning of the answer (litellm#30796).
    inline_think=True,
)
