"""Images of tables over real sockets on loopback: their type, their limits, the cache, and the addresses."""

import asyncio
from collections.abc import Callable
from time import monotonic

import pytest
from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.services.addresses import Allowance
from signalbox.services.fetch import LARGEST_BODY, PageFetcher
from signalbox.services.images import Image, ImageLoader

from tests.support.web_server import reply, site

pytestmark = pytest.mark.anyio

PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)


class Clock:
    """A clock that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def loader(*, cache_bytes: int = 1_000_000, seconds: float = 5, clock: Callable[[], float] = monotonic) -> ImageLoader:
    """Return a loader that may fetch from loopback."""
    fetcher = PageFetcher(Allowance.of(["127.0.0.0/8"]), seconds=seconds)
    return ImageLoader(fetcher, cache_bytes=cache_bytes, clock=clock)


async def failure(images: ImageLoader, source: str) -> ToolError:
    """Return the error of a failing load."""
    with pytest.raises(ToolError) as raised:
        await images.load(source)
    return raised.value


async def test_an_image_is_fetched_once() -> None:
    """Concurrent and later requests share one fetch, whatever type the source claims."""
    async with site(reply(PNG, kind="text/plain")) as there:
        images = loader()
        found = await asyncio.gather(*(images.load(f"{there.url}/a.png") for _ in range(5)))
        assert [*found, await images.load(f"{there.url}/a.png")] == [Image("image/png", PNG)] * 6
        assert [asked.path for asked in there.asked] == ["/a.png"]
        assert "cookie" not in there.asked[0].headers


async def test_the_cache_is_bounded() -> None:
    """The image that was not requested for the longest time is dropped first."""
    async with site(reply(PNG)) as there:
        images = loader(cache_bytes=2 * len(PNG))
        for name in ("a", "b", "a", "c", "a", "b"):
            await images.load(f"{there.url}/{name}")
        assert [asked.path for asked in there.asked] == ["/a", "/b", "/c", "/b"]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (reply(b"<svg/>", kind="image/svg+xml"), "not a PNG"),
        (reply(b"<script>", kind="image/png"), "not a PNG"),
        (reply(b"gone", status=404), "status 404"),
        (reply(PNG + bytes(LARGEST_BODY)), "too large"),
    ],
)
async def test_a_failure_is_cached_for_a_minute(answer: bytes, words: str) -> None:
    """A page with broken images does not load them again and again; later, the source is requested again."""
    async with site(answer, reply(PNG)) as there:
        clock = Clock()
        images = loader(clock=clock)
        assert words in (await failure(images, there.url)).message
        clock.now = 59.9
        assert words in (await failure(images, there.url)).message
        assert len(there.asked) == 1
        clock.now = 60.0
        assert (await images.load(there.url)).body == PNG


async def test_the_cache_of_failures_is_bounded() -> None:
    """The oldest failure is dropped; a failure that is not cached is a new request."""
    async with site(reply(status=404)) as there:
        images = loader(clock=Clock())
        for number in (*range(1_001), 1_000, 0):
            await failure(images, f"{there.url}/{number}")
        assert [asked.path for asked in there.asked[1_000:]] == ["/1000", "/0"]


async def test_a_silent_source_is_a_timeout() -> None:
    """The fetch has the time limit of `read_url`."""
    async with site(None) as there:
        assert (await failure(loader(seconds=0.2), there.url)).code is Code.TIMEOUT


async def test_private_addresses_are_not_fetched() -> None:
    """The rules of `read_url` apply to the address and to every redirect."""
    async with site(reply(status=302, location="http://10.0.0.1/a.png")) as there:
        assert "10.0.0.1" in (await failure(loader(), there.url)).message
        strict = ImageLoader(PageFetcher())
        assert "127.0.0.1" in (await failure(strict, f"https://127.0.0.1/{there.port}")).message
        assert (await failure(strict, "file:///etc/passwd")).code is Code.INVALID_ARGUMENTS
        assert len(there.asked) == 1


async def test_closing_cancels_fetches() -> None:
    """A shutdown does not wait for a silent source."""
    async with site(None) as there:
        images = loader()
        waiting = asyncio.create_task(images.load(there.url))
        await there.arrived.wait()
        await images.aclose()
        with pytest.raises(asyncio.CancelledError):
            await waiting
