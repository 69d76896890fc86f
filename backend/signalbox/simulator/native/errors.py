"""The error of a native API: a status and a body in the API's own format."""

from typing import Any


class NativeError(Exception):
    """A native API rejects a request."""

    def __init__(self, status: int, body: dict[str, Any], headers: dict[str, str] | None = None) -> None:
        super().__init__(f"{status}: {body}")
        self.status = status
        self.body = body
        self.headers = headers or {}
        self.page: str | None = None
        """HTML that is sent instead of the body: a proxy in front of the API failed."""
