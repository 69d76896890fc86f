"""Loads images of tool results from their sources, under the rules of `read_url`, and caches them."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.security.image_types import image_type
from signalbox.services.fetch import PageFetcher, Reply, Wanted

_CACHE_BYTES = 32 * 1024 * 1024
_MOST_AT_ONCE = 8
# A page with broken images that is loaded again does not request them again; a source that recovers is seen soon.
_FAILURE_SECONDS = 60.0
_MOST_FAILURES = 1_000
_ACCEPT = b"image/avif, image/webp, image/png, image/jpeg, image/gif"


@dataclass(frozen=True, slots=True)
class Image:
    """An image, and its media type by content."""

    kind: str
    body: bytes


class ImageLoader:
    """Loads images by the address at their source. The caches of images and of failures are bounded.

    Concurrent requests for one image share a fetch, and at most eight images are fetched at once.
    """

    def __init__(
        self, fetcher: PageFetcher, *, cache_bytes: int = _CACHE_BYTES, clock: Callable[[], float] = monotonic
    ) -> None:
        self._fetcher = fetcher
        self._cache_bytes = cache_bytes
        self._cached: OrderedDict[str, Image] = OrderedDict()
        self._size = 0
        self._clock = clock
        self._failed: OrderedDict[str, tuple[Code, str, float]] = OrderedDict()  # code, message, end
        self._loading: dict[str, asyncio.Task[Image]] = {}
        self._free = asyncio.Semaphore(_MOST_AT_ONCE)

    async def load(self, source: str) -> Image:
        """Return an image; raises ToolError."""
        if image := self._cached.get(source):
            self._cached.move_to_end(source)
            return image
        if (failed := self._failed.get(source)) and self._clock() < failed[-1]:
            raise ToolError(*failed[:-1])
        loading = self._loading.get(source)
        if loading is None:
            loading = self._loading[source] = asyncio.create_task(self._fetch(source), name="image")
            loading.add_done_callback(lambda task: self._finished(source, task))
        # A client that leaves does not cancel the fetch of the others.
        return await asyncio.shield(loading)

    async def aclose(self) -> None:
        """Cancel the fetches."""
        tasks = [*self._loading.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _fetch(self, source: str) -> Image:
        async with self._free:
            try:
                reply = await self._fetcher.load(source, _IMAGES)
            except TimeoutError:
                raise ToolError(Code.TIMEOUT, "The image did not load in time.") from None
        return _image(reply)

    def _finished(self, source: str, task: asyncio.Task[Image]) -> None:
        del self._loading[source]
        self._failed.pop(source, None)
        if task.cancelled():
            return
        error = task.exception()
        if isinstance(error, ToolError):
            self._failed[source] = error.code, error.message, self._clock() + _FAILURE_SECONDS
            while len(self._failed) > _MOST_FAILURES:
                self._failed.popitem(last=False)
        if error is not None:
            return
        image = task.result()
        self._cached[source] = image
        self._size += len(image.body)
        while self._size > self._cache_bytes:
            _, oldest = self._cached.popitem(last=False)
            self._size -= len(oldest.body)


def _image(reply: Reply) -> Image:
    if reply.status != 200:
        raise ToolError(Code.TOOL_FAILED, f"The image's server answered with status {reply.status}.")
    if reply.cut:
        raise ToolError(Code.TOOL_FAILED, "The image is too large.")
    kind = image_type(reply.body)
    if kind is None:
        raise ToolError(Code.TOOL_FAILED, "This is not a PNG, JPEG, WebP, GIF or AVIF image.")
    return Image(f"image/{kind}", reply.body)


# The content type is often wrong, so the content decides.
_IMAGES = Wanted(b"Signalbox (image)", _ACCEPT, lambda _: True)
