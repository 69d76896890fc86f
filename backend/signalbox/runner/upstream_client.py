"""The client of a program's runs. Its errors name the URL: the program chose it, while a server's URL is private."""

from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.parts import Request, StreamPart
from signalbox.core.ports import Emit, OnHead
from signalbox.runner.upstream_arguments import shown_url
from signalbox.services.upstream import UpstreamClient
from signalbox.wire.http_errors import NO_CHAT_API

_CODES = frozenset({Code.UPSTREAM_UNREACHABLE, Code.UPSTREAM_NOT_FOUND, Code.UPSTREAM_PROTOCOL})
# How web servers answer a POST that they do not expect.
_STATUSES = frozenset({404, 405, 501})
_HINT = "Base URLs of OpenAI-compatible servers usually end in /v1 (OpenRouter's in /api/v1)."


class ProgramClient(UpstreamClient):
    """An UpstreamClient whose errors name the requested URL where the base URL may be wrong."""

    async def stream(self, request: Request, emit: Emit[list[StreamPart]], on_head: OnHead | None = None) -> None:
        """Emit one list of parts per network read. Raises UpstreamError."""
        try:
            await super().stream(request, emit, on_head)
        except UpstreamError as error:
            self._add_url(error, request, stream=True)
            raise

    async def complete(self, request: Request, on_head: OnHead | None = None) -> list[StreamPart]:
        """Return the parts of an answer that is not streamed. Raises UpstreamError."""
        try:
            return await super().complete(request, on_head)
        except UpstreamError as error:
            self._add_url(error, request, stream=False)
            raise

    def _add_url(self, error: UpstreamError, request: Request, *, stream: bool) -> None:
        if error.code not in _CODES and error.status not in _STATUSES:
            return
        path = self.dialect.path_of(request.model, stream=stream)
        sentences = [error.message.strip(), f"Request URL: {shown_url(self._base + path)}"]
        usual = self.dialect.usual_path
        if usual is not None and (not self._base.endswith(usual) or error.message == NO_CHAT_API):
            sentences.append(_HINT)
        error.message = " ".join(one if one.endswith((".", "!", "?")) else f"{one}." for one in sentences)
        self._hide_key(error)
