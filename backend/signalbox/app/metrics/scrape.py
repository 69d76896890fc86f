"""GET /metrics on a separate port: a small ASGI app beside the public one."""

import hmac
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

if TYPE_CHECKING:
    from signalbox.metrics.metrics import Metrics

PATH = "/metrics"
_SCHEME = "bearer"


class MetricsApp:
    """Answers scrapes; requests need the token, if there is one. The port is not meant for browsers or clients."""

    def __init__(self, metrics: "Metrics", token: str | None) -> None:
        self._metrics = metrics
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "http":
            response = await self._answer(Request(scope))
            await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        if request.url.path != PATH:
            return PlainTextResponse("The metrics are at /metrics.\n", 404)
        if request.method not in ("GET", "HEAD"):
            return PlainTextResponse("Use GET.\n", 405, {"allow": "GET, HEAD"})
        if self._token is not None and not has_token(request, self._token):
            words = "Send SIGNALBOX_METRICS_TOKEN in the header Authorization: Bearer TOKEN.\n"
            return PlainTextResponse(words, 401, {"www-authenticate": "Bearer"})
        return await metrics_response(self._metrics, request)


def has_token(request: Request, token: str) -> bool:
    """Return whether a request has the token; takes as long for any wrong one."""
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    return hmac.compare_digest(given.strip().encode(), token.encode()) and scheme.lower() == _SCHEME


async def metrics_response(metrics: "Metrics", request: Request) -> Response:
    """Respond with all metrics."""
    text, content_type = await metrics.text(request.headers.get("accept", ""))
    return Response(text, headers={"content-type": content_type, "cache-control": "no-store"})
