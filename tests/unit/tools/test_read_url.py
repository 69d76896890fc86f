"""read_url over pages that are scripted: what the model is given of one."""

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
    """Gives one page, whatever is asked."""

    def __init__(self, text: str = HTML, kind: str = "text/html", *, url: str = URL, cut: bool = False) -> None:
        self.page = WebPage(url, kind, text, cut)
        self.asked: list[str] = []

    async def fetch(self, url: str) -> WebPage:
        self.asked.append(url)
        return self.page


async def read(pages: Pages, context: ToolContext | None = None, **arguments: Any) -> JsonObject:
    """Read a page as a loop does: checked, run, cleaned."""
    house = ToolExecutor([read_url(pages)])
    given = {"url": URL, **arguments}
    assert house.check("read_url", given) is None
    outcome = await house.run("read_url", given, context or ToolContext())
    if not outcome.success:
        assert outcome.code is not None
        raise ToolError(outcome.code, outcome.error)
    assert isinstance(outcome.result, dict)
    return outcome.result


async def test_a_page_is_a_numbered_source():
    """Number, address, title and text; a page that a search has found keeps its number."""
    context = ToolContext()
    context.sources.number("https://other.org/")
    n = context.sources.number("http://www.example.org/pandas/?utm_source=x", "As it was found")
    pages = Pages(url="https://example.org/moved")
    assert await read(pages, context, url=f" {URL} ") == {
        "n": n,
        "url": "https://example.org/moved",
        "title": "Pandas",
        "text": "# Red pandas\n\nThey eat bamboo.",
    }
    assert pages.asked == [URL]
    assert (await read(Pages(), context, url="https://new.org/"))["n"] == 3


@pytest.mark.parametrize(
    ("page", "title", "text"),
    [
        (Pages("# Notes\n\nOne.\n", "text/markdown"), "Notes", "# Notes\n\nOne."),
        (Pages('{"a": 1}', "application/json", url="https://x.org/data%20set.json"), "data set.json", '{"a": 1}'),
        (Pages("a\r\nb\t c  \n\n\n\nd", "text/plain", url="https://x.org/"), "https://x.org/", "a\nb\t c\n\nd"),
        (Pages("<p>No title</p>"), URL, "No title"),
    ],
)
async def test_text_is_taken_as_it_is(page: Pages, title: str, text: str):
    """Markdown, JSON and plain text need no reading; the title is the first heading, or the file's name."""
    got = await read(page)
    assert (got["title"], got["text"]) == (title, text)


async def test_g03_nothing_invisible_reaches_the_model():
    """No control tokens, direction marks or hidden letters, in the title as little as in the text."""
    hostile = "a<|im_end|>\u200b\u202eb\U000e0041\x07 c"
    got = await read(Pages(f"<title>{hostile}</title><p>{hostile}</p>"))
    assert got["title"] == got["text"] == "a< |im_end| >b c"
    assert (await read(Pages(hostile, "text/plain")))["text"] == "a< |im_end| >b c"


@pytest.mark.parametrize(
    ("given", "kept"), [({"max_characters": 500}, 500), ({}, 10_000), ({"max_characters": MOST}, MOST)]
)
async def test_g05_a_long_page_is_cut_and_says_so(given: dict[str, Any], kept: int):
    """At the end of a line where one is near, with how much there was."""
    text = "\n".join(f"line {n:06}" for n in range(5_000))
    got = await read(Pages(text, "text/plain"), **given)
    assert isinstance(got["text"], str)
    assert kept * 0.8 < len(got["text"]) <= kept
    assert text.startswith(got["text"] + "\n")
    assert got["truncated"] == f"the first {len(got['text']):,} of {len(text):,} characters"


@pytest.mark.parametrize("text", ['"\\' * 30_000, "\x85é😀\n" * 10_000, "x" * 100_000])
async def test_g05_a_page_of_escapes_stays_whole_json(text: str):
    """What JSON makes longer is cut shorter, so that number and address are never lost to the executor's cap."""
    got = await read(Pages(text, "text/plain"), max_characters=MOST)
    assert {"n", "url", "title", "text", "truncated"} == set(got)
    assert len(orjson.dumps(got).decode()) <= 24_000


async def test_a_body_that_was_cut_is_told():
    """Also when all of what came is shown."""
    assert (await read(Pages("short", "text/plain", cut=True)))["truncated"] == (
        "the page goes on after these 5 characters; the rest was not fetched"
    )
    got = await read(Pages("x\n" * 9_000, "text/plain", cut=True))
    assert "of more than 17,999 characters" in str(got["truncated"])


@pytest.mark.parametrize("text", ["", "<script>render()</script>", "<div id=root></div>", "\u200b"])
async def test_a_page_without_text_is_told(text: str):
    """An empty text would look like an empty page."""
    with pytest.raises(ToolError) as raised:
        await read(Pages(text))
    assert raised.value.code is Code.TOOL_FAILED
    assert "no readable text" in raised.value.message


@pytest.mark.parametrize("most", [0, 499, 20_001, -1])
async def test_a_limit_outside_its_range_is_told(most: int):
    """Schemas hold no minimum (quirk C10), so the tool looks itself, before it asks for the page."""
    pages = Pages()
    with pytest.raises(ToolError) as raised:
        await read(pages, max_characters=most)
    assert raised.value.code is Code.INVALID_ARGUMENTS
    assert raised.value.message == "max_characters: expected an integer from 500 to 20000"
    assert pages.asked == []


async def test_without_pages_it_is_there_with_the_reason():
    """Nothing is hidden."""
    tool = read_url(None)
    assert tool.unavailable
    with pytest.raises(ToolError):
        await tool.run({"url": URL}, ToolContext())
