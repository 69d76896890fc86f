"""Anthropic's Claude models."""

from signalbox.profiles.profile import Profile

PROFILE = Profile(
    family="anthropic",
    vendors=("anthropic",),
    names=("claude",),
    # Clients of chat completions lost some of Claude's parallel calls (seed-systems PS-12).
    parallel_tool_calls=False,
    # 400 "String should match pattern '^[a-zA-Z0-9_-]+$'" (langchain#37756, bifrost#5097).
    call_id=r"[a-zA-Z0-9_\-]{1,256}",
    # 400 "Thinking may not be enabled when tool_choice forces tool use" (mastra#7507).
    forced_calls_with_reasoning=False,
    # 400 "Expected thinking or redacted_thinking, but found tool_use" (opencode#8010, Kilo-Org/kilocode#5219).
    requires_loop_reasoning=True,
    # The same 400 for a chat that was stopped after a tool result: the next user message belongs to the open turn.
    assistant_after_tools=True,
    # 400 "`max_tokens` must be greater than `thinking.budget_tokens`" (Anthropic's documentation of thinking).
    budget_below_limit=True,
)
