"""/metrics on the public port, for Prometheus; only with SIGNALBOX_METRICS_TOKEN."""

from typing import TYPE_CHECKING

from fastapi import APIRouter, FastAPI, Request, Response

from signalbox.app.config import Settings
from signalbox.app.metrics.scrape import PATH, has_token, metrics_response
from signalbox.app.openapi.document import errors
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError

if TYPE_CHECKING:
    from signalbox.metrics.metrics import Metrics

router = APIRouter(tags=["metrics"])
_TEXT = {
    "description": "Every metric, in Prometheus' text format or as OpenMetrics; docs/metrics.md lists them.",
    "content": {"text/plain": {"schema": {"type": "string"}}},
}


@router.get(
    PATH,
    response_class=Response,
    response_model=None,
    responses={200: _TEXT, **errors(Code.UNAUTHORIZED, Code.NOT_FOUND, Code.HOST_NOT_ALLOWED)},
)
async def get_metrics(request: Request) -> Response:
    """Return the metrics of all workers of this host, for Prometheus; needs the token of the metrics.

    Without SIGNALBOX_METRICS_TOKEN, this port has no metrics, and the answer is 404.
    """
    token = request.app.state.settings.signalbox_metrics_token
    if token is None:
        raise RequestError(Code.NOT_FOUND, "This port has no metrics: SIGNALBOX_METRICS_TOKEN is not set.")
    if not has_token(request, token.get_secret_value()):
        raise RequestError(Code.UNAUTHORIZED, "The metrics require SIGNALBOX_METRICS_TOKEN.", "Authorization")
    return await metrics_response(request.app.state.metrics, request)


def add_metrics(app: FastAPI, settings: Settings, metrics: "Metrics | None") -> None:
    """Add the endpoint, and keep what it needs."""
    app.state.settings, app.state.metrics = settings, metrics
    app.include_router(router)
