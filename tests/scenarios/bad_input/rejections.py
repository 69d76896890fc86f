"""Send requests that must be rejected."""

from typing import Any

from tests.support.running_app import RunningApp, error_of


def refused(app: RunningApp, body: bytes | dict[str, Any], status: int, code: str, field: str | None) -> str:
    """Send a body that must be rejected like this; return the message."""
    sent: dict[str, Any] = {"content": body} if isinstance(body, bytes) else {"json": body}
    response = app.client.post("/api/chat/stream", **sent)
    error = error_of(response)
    assert (response.status_code, error["code"], error.get("field")) == (status, code, field), response.text
    return error["message"]
