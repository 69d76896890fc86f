"""One request for each endpoint that clients use, to compare an app under a prefix with one at the root."""

from typing import Any

MODEL = "openai/sim"
MESSAGES = [{"role": "user", "content": "Hello!"}]
PART = {"type": "text", "text": "Hello!"}
UI_MESSAGE = {"id": "msg-1", "role": "user", "parts": [PART]}
AGENT: dict[str, Any] = {
    "threadId": "thread-1",
    "runId": "run-1",
    "state": {},
    "messages": [{"id": "msg-1", "role": "user", "content": "Hello!"}],
    "tools": [],
    "context": [],
    "forwardedProps": {"model": MODEL},
}
COMMAND = {"type": "add-message", "message": {"role": "user", "parts": [PART]}}

# Requests that start a run, by path.
QUESTIONS: dict[str, Any] = {
    "/api/chat/stream": {"model": MODEL, "prompt": "Hello!"},
    "/api/chat": {"model": MODEL, "prompt": "Hello!"},
    "/v1/chat/completions": {"model": MODEL, "messages": MESSAGES, "stream": True},
    "/api/v1/chat/completions": {"model": MODEL, "messages": MESSAGES},
    "/api/ai/chat": {"id": "chat-1", "model": MODEL, "messages": [UI_MESSAGE]},
    "/assistant": {"model": MODEL, "commands": [COMMAND], "state": {"messages": []}},
    "/assistant/transport": {"model": MODEL, "commands": [COMMAND], "state": {"messages": []}},
    "/agui": AGENT,
}
PAGES = (
    "/",
    "/docs",
    "/operator",
    "/guide/",
    "/notes/",
    "/guide/settings.md",
    "/favicon.svg",
    "/index.html",
    "/preview-frame",
)
# Their content depends on other tests.
LISTS = ("/api/runs", "/api/conversations", "/api/saves")
READS = (
    *LISTS,
    *("/health/live", "/health/ready", "/openapi.json", "/api/contract/v1.1.json", "/api/contract/data-table-v1.json"),
    *("/api/models", "/api/tools", "/api/flags/tool_loop_v2"),
    *("/v1/models", f"/v1/models/{MODEL}", "/api/v1/models", "/assistant/state?threadId=x", "/api/ai/chat/x/stream"),
)
WRONG = (
    *("/api/nope", "/v1/nope", "/api/v1/nope", "/v1", "/v1/", "/api", "/api/", "/api/runs/nope", "/api/saves/nope"),
    *("/api/images/forged", "/api/chat", "/agui", "/nope", "/guide/nope.md", "/guide/../secret", "/assistant/nope"),
)
