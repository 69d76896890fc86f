"""read_url over scripted pages: the result that the model receives."""

from typing import Any

import orjson
import pytest
from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.messages import JsonObject
from signalbox.core.tools import ToolContext, WebPage
from signalbox.services.tool_executor import ToolExecutor
from signalbox.tools.read_url import MOST, read_url

pytestmark = pytest.mark.anyio

URL = "https://example.org/pandas"
HTML = "<title>Pandas</title><h1>Red pandas</h1><p>They eat bamboo.</p>"


class Pages:
    """Returns one page for every URL."""

    def __init__(self, text: str = HTML, kind: str = "text/html", *, url: str = URL, cut: bool = False) -> None:
        self.page = WebPage(url, kind, text, cut)
        self.asked: list[str] = []

    async def fetch(self, url: str) -> WebPage:
        self.asked.append(url)
        return self.page


async def read_page(pages: Pages, context: ToolContext | None = None, **arguments: Any) -> JsonObject:
    """Call the tool as a loop does."""
    executor = ToolExecutor([read_url(pages)])
    given = {"url": URL, **arguments}
    assert executor.check("read_url", given) is None
    outcome = await executor.run("read_url", given, context or ToolContext())
    if not outcome.success:
        assert outcome.code is not None
        raise ToolError(outcome.code, outcome.error)
    assert isinstance(outcome.result, dict)
    return outcome.result


async def test_a_page_is_a_numbered_source():
    """The result has number, URL, title and text; a page from a search keeps its number."""
    context = ToolContext()
    context.sources.number("https://other.org/")
    n = context.sources.number("http://www.example.org/pandas/?utm_source=x", "As it was found")
    pages = Pages(url="https://example.org/moved")
    assert await read_page(pages, context, url=f" {URL} ") == {
        "n": n,
        "url": "https://example.org/moved",
        "title": "Pandas",
        "text": "# Red pandas\n\nThey eat bamboo.",
    }
    assert pages.asked == [URL]
    assert (await read_page(Pages(), context, url="https://new.org/"))["n"] == 3


@pytest.mark.parametrize(
    ("page", "title", "text"),
    [
        (Pages("# Notes\n\nOne.\n", "text/markdown"), "Notes", "# Notes\n\nOne."),
        (Pages('{"a": 1}', "application/json", url="https://x.org/data%20set.json"), "data set.json", '{"a": 1}'),
        (Pages("a\r\nb\t c  \n\n\n\nd", "text/plain", url="https://x.org/"), "https://x.org/", "a\nb\t c\n\nd"),
        (Pages("<p>No title</p>"), URL, "No title"),
    ],
)
async def test_plain_text_is_not_changed(page: Pages, title: str, text: str):
    """Markdown, JSON and text are returned unchanged; the title is the first heading or the file's name."""
    got = await read_page(page)
    assert (got["title"], got["text"]) == (title, text)


async def test_g03_nothing_invisible_reaches_the_model():
    """Control tokens, direction marks and invisible characters are removed from title and text."""
    hostile = "a<|im_end|>\u200b\u202eb\U000e0041\x07 c"
    got = await read_page(Pages(f"<title>{hostile}</title><p>{hostile}</p>"))
    assert got["title"] == got["text"] == "a< |im_end| >b c"
    assert (await read_page(Pages(hostile, "text/plain")))["text"] == "a< |im_end| >b c"


@pytest.mark.parametrize(
    ("given", "kept"), [({"max_characters": 500}, 500), ({}, 10_000), ({"max_characters": MOST}, MOST)]
)
async def test_g05_a_long_page_is_cut_and_says_so(given: dict[str, Any], kept: int):
    """The text is cut at the end of a line if one is near, with its original length."""
    text = "\n".join(f"line {n:06}" for n in range(5_000))
    got = await read_page(Pages(text, "text/plain"), **given)
    assert isinstance(got["text"], str)
    assert kept * 0.8 < len(got["text"]) <= kept
    assert text.startswith(got["text"] + "\n")
    assert got["truncated"] == f"the first {len(got['text']):,} of {len(text):,} characters"


@pytest.mark.parametrize("text", ['"\\' * 30_000, "\x85é😀\n" * 10_000, "x" * 100_000])
async def test_g05_a_page_of_escapes_stays_whole_json(text: str):
    """Text that JSON escapes is cut shorter, so that the executor's limit never cuts number and URL."""
    got = await read_page(Pages(text, "text/plain"), max_characters=MOST)
    assert {"n", "url", "title", "text", "truncated"} == set(got)
    assert len(orjson.dumps(got).decode()) <= 24_000


async def test_a_body_that_was_cut_is_reported():
    """Also if all fetched text is returned."""
    assert (await read_page(Pages("short", "text/plain", cut=True)))["truncated"] == (
        "the page goes on after these 5 characters; the rest was not fetched"
    )
    got = await read_page(Pages("x\n" * 9_000, "text/plain", cut=True))
    assert "of more than 17,999 characters" in str(got["truncated"])


@pytest.mark.parametrize("text", ["", "<script>render()</script>", "<div id=root></div>", "\u200b"])
async def test_a_page_without_text_is_an_error(text: str):
    """An empty result would look like an empty page."""
    with pytest.raises(ToolError) as raised:
        await read_page(Pages(text))
    assert raised.value.code is Code.TOOL_FAILED
    assert "no readable text" in raised.value.message


@pytest.mark.parametrize("most", [0, 499, 20_001, -1])
async def test_a_limit_outside_its_range_is_an_error(most: int):
    """Schemas have no minimum (quirk C10), so the tool checks it before the fetch."""
    pages = Pages()
    with pytest.raises(ToolError) as raised:
        await read_page(pages, max_characters=most)
    assert raised.value.code is Code.INVALID_ARGUMENTS
    assert raised.value.message == "max_characters: expected an integer from 500 to 20000"
    assert pages.asked == []


async def test_without_a_fetcher_the_tool_is_unavailable():
    """It is listed with the reason."""
    tool = read_url(None)
    assert tool.unavailable
    with pytest.raises(ToolError):
        await tool.run({"url": URL}, ToolContext())
