"""Mistral's models."""

from signalbox.profiles.profile import Profile

PROFILE = Profile(
    family="mistral",
    vendors=("mistralai", "mistral"),
    names=("mistral", "ministral", "magistral", "codestral", "devstral", "pixtral"),
    # 400 "Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9" (opencode#1680, langchain#24668).
    call_id=r"[A-Za-z0-9]{9}",
    # 400 code 3230 "Unexpected role 'user' after role 'tool'" (charmbracelet/crush#279, mistral-common#169).
    assistant_after_tools=True,
    # Its templates raise an error for two consecutive user messages (mistral-common#169; hermes-agent#20154).
    alternating_roles=True,
)
