"""The model that draws images for tools: its requests, retries, and the image in its answer."""

import asyncio
import binascii
from base64 import b64decode, b64encode
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from signalbox.core.codes import Code
from signalbox.core.errors import RequestError, ToolError, UpstreamError
from signalbox.core.messages import ImagePart, TextPart, UserMessage
from signalbox.core.params import Params
from signalbox.core.parts import Completion, FinishReason, Request
from signalbox.core.tools import ToolContext
from signalbox.core.workspace import WorkspaceFile
from signalbox.services.catalog import Catalog
from signalbox.services.upstreams.registry import Upstreams
from signalbox.services.upstreams.route import Route
from signalbox.wire.dialects import DIALECTS

# What to request from a model whose catalogue entry does not list its output.
_MODALITIES = ("image", "text")
_ATTEMPTS = 2
_WAIT, _LONGEST_WAIT = 1.0, 10.0


@dataclass(frozen=True, slots=True)
class UpstreamImageModel:
    """The ImageModel that `model` names. It retries a failed request once, at the next upstream if there is one."""

    model: str
    upstreams: Upstreams
    catalog: Catalog
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def draw(
        self, context: ToolContext, prompt: str, sources: Sequence[WorkspaceFile] = (), aspect_ratio: str | None = None
    ) -> bytes:
        """Return an image file; raises ToolError."""
        asked = prompt if aspect_ratio is None else f"{prompt}\n\nAspect ratio: {aspect_ratio}."
        message = UserMessage((TextPart(asked), *map(_part, sources)) if sources else asked)
        try:
            await self.catalog.check(self.model)  # loads the list, whose modalities and prices the request needs
            route = self.upstreams.route(self.model, Params())
        except RequestError as error:
            words = f"The image model cannot be used: {error.message} The operator must correct SIGNALBOX_IMAGE_MODEL."
            raise ToolError(Code.TOOL_UNAVAILABLE, words) from error
        try:
            route.skip_failing()
            return image_in(await self._complete(context, route, message, aspect_ratio))
        except UpstreamError as error:
            raise ToolError(error.code, error.message) from error
        finally:
            route.release()

    async def _complete(
        self, context: ToolContext, route: Route, message: UserMessage, aspect_ratio: str | None
    ) -> Completion:
        assert context.model_calls is not None  # every loop sets it
        number = 1
        while True:
            request = Request(self.model, (message,), params=self._params(route, aspect_ratio))
            try:
                return await context.model_calls.complete(context.call_id, route, request, number)
            except UpstreamError as error:
                if number == _ATTEMPTS or not error.retryable:
                    raise
                if not route.fall_back():
                    await self.sleep(min(_WAIT if error.retry_after is None else error.retry_after, _LONGEST_WAIT))
            number += 1

    def _params(self, route: Route, aspect_ratio: str | None) -> Params:
        facts = self.catalog.entry(self.model)
        modalities = facts.abilities.modalities if facts is not None else ()
        dialect = DIALECTS[route.current.dialect]
        return Params(modalities=modalities or _MODALITIES, extra=dialect.image_options(aspect_ratio))


def _part(source: WorkspaceFile) -> ImagePart:
    return ImagePart(f"data:{source.version.media_type};base64,{b64encode(source.content).decode()}")


def image_in(completion: Completion) -> bytes:
    """Return the first image of an answer; raises ToolError without one."""
    if not completion.images:
        if completion.refusal or completion.finish.reason is FinishReason.WITHHELD:
            raise ToolError(Code.CONTENT_FILTER, "The image model refused to draw this. Describe another image.")
        raise ToolError(Code.TOOL_FAILED, "The image model returned no image. Describe the image in other words.")
    head, _, data = completion.images[0].url.partition(";base64,")
    if not head.startswith("data:"):
        raise ToolError(Code.TOOL_FAILED, "The image model returned an address instead of an image file.")
    try:
        return b64decode(data, validate=True)
    except binascii.Error:
        raise ToolError(Code.TOOL_FAILED, "The image model returned a damaged image.") from None
