"""Web pages become text for a model, in linear time."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from signalbox.tools import page_text as module
from signalbox.tools.html_tokens import Close, Open, tokens
from signalbox.tools.page_text import page_text

from tests.support.complexity import growth_of

URL = "https://example.org/docs/page.html"


def text_of(markup: str) -> str:
    """Return the text of a page."""
    return page_text(markup, URL).text


def test_a_page_becomes_text():
    """Title, headings, paragraphs, lists, tables, code and links are kept; navigation is omitted."""
    page = page_text(
        """<!DOCTYPE html><html><head><title>Red pandas &amp; co</title><style>p{}</style>
        <script>if (a < b && "</p>") alert("<p>no</p>")</script></head>
        <body><nav><a href="/">Home</a></nav><header><h1>Red <em>pandas</em></h1></header>
        <p>They eat   <b>bamboo</b>,<br>and <a href="../food?a=1&amp;b=2#x">more</a>.</p>
        <ul><li>Nepal<li><p>India</p></li></ul><h2>Code</h2><pre>a  =  1
  b &lt; 2</pre>
        <table><tr><th>Where<th>How many</tr><tr><td>Nepal</td><td>1,000</td></tr></table>
        <blockquote><p>Quoted</p></blockquote><aside>Advert</aside><footer>Imprint</footer></body></html>""",
        URL,
    )
    assert page.title == "Red pandas & co"
    assert page.text == (
        "# Red pandas\n\nThey eat bamboo,\nand [more](https://example.org/food?a=1&b=2#x).\n\n- Nepal\n- India\n\n"
        "## Code\n\n```\na  =  1\n  b < 2\n```\n\nWhere | How many\n\nNepal | 1,000\n\n> Quoted"
    )


def test_the_main_part_is_used_if_the_page_marks_one():
    """Text outside <main> or <article> is omitted, unless these are nearly empty."""
    around = "<p>Around.</p>"
    long = "<p>" + "Within. " * 40 + "</p>"
    assert "Around" not in text_of(f"{around}<main>{long}</main>{around}")
    assert "Around" not in text_of(f"{around}<article>{long}</article>{around}")
    assert "Around" in text_of(f"{around}<main><p>Short.</p></main>")


@pytest.mark.parametrize(
    "hidden",
    [
        "<p hidden>x</p>",
        '<div style="color:red; display : none">x<div>y</div></div>',
        '<span aria-hidden="true">x</span>',
        '<p style="visibility:hidden">x</p>',
        "<!-- x -->",
        "<noscript>x</noscript>",
        "<template>x</template>",
        "<svg><text>x</text></svg>",
        "<textarea>x</textarea>",
        '<p hidden="">x',
        "<li hidden>x<li>",
    ],
)
def test_g03_hidden_text_is_omitted(hidden: str):
    """Hidden text is meant for models; the text after it is kept (quirk G3)."""
    assert text_of(f"<p>Before.</p>{hidden}<p>After.</p>").replace("- ", "").split() == ["Before.", "After."]


@pytest.mark.parametrize(
    ("link", "text"),
    [
        ('<a href="/a">A</a>', "[A](https://example.org/a)"),
        ('<a href="https://x.org/">A <b>B</b></a>', "[A B](https://x.org/)"),
        ('<a href="#part">A</a>', "A"),
        ('<a href="javascript:alert(1)">A</a>', "A"),
        ('<a href="data:text/html,x">A</a>', "A"),
        ('<a href="mailto:a@b">A</a>', "A"),
        ('<a href="http://[bad">A</a>', "A"),
        ('<a href="/a b(c)">A</a>', "A"),
        ("<a>A</a>", "A"),
        ('<a href="/a"><img alt="x"></a>A', "A"),
        (f'<a href="/{"a" * 600}">A</a>', "A"),
    ],
)
def test_links_lead_to_pages_only(link: str, text: str):
    """Links with other schemes or within the page become text."""
    assert text_of(f"<p>{link}</p>") == text


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("a < b and c > d", "a < b and c > d"),
        ("1 <2", "1 <2"),
        ("<p>a<", "a\n\n<".replace("\n\n", "")),
        ("<p>unclosed <b>tags", "unclosed tags"),
        ("a<br/>b", "a\nb"),
        ("<p title='>'>a</p>", "a"),
        ('<p title=">" data-x=1>a</p>', "a"),
        ("<p title=don't>a</p>", "a"),
        ("a<!-- x", "a"),
        ("a<p title='", "a"),
        ("a</>b", "ab"),
        ("a<?php echo 1 ?>b", "ab"),
        ("<title>T</title>a", "a"),
        ("<head><title>T</title><p>a", "a"),
        ("<nav>only this</nav>", "only this"),
        ("<nav>never closed <p>a", "never closed\n\na"),
        ("&lt;b&gt; &copy; &#65; &#x41; &unknown; &#99999999999; &#" + "9" * 5000 + ";", "<b> © A A &unknown; � �"),
        ("<P>UPPER</P>", "UPPER"),
        ("<é>", "<é>"),
        ("", ""),
    ],
)
def test_broken_markup_is_read_as_browsers_do(markup: str, text: str):
    """Unclosed, misquoted and unknown markup ends somewhere, and nothing raises."""
    assert text_of(markup) == text


def test_attributes_are_read_as_written():
    """Names become lower case, references are resolved, and the first of repeated attributes counts."""
    markup = "<A HREF=\"a&amp;b\" href=no x='1 2' y=z/ checked></A>"
    assert list(tokens(markup)) == [Open("a", {"href": "a&b", "x": "1 2", "y": "z/", "checked": ""}), Close("a")]


@pytest.mark.parametrize(
    "piece",
    [
        "<a ",
        "<",
        "</",
        "<!--",
        "<![CDATA[",
        "<?",
        "<a href='",
        "<a '",
        '<a ">"',
        '<a =">"',
        "<div>",
        "<script>",
        "</script",
        "<title>",
        "&",
        "&#",
        "&#1",
        "&amp",
        "<a b=",
        "<a b = ",
        "a\n",
        "<textarea></textare",
        "- \n",
    ],
)
def test_no_page_takes_long(piece: str):
    """300 kB of any piece take linear time; a quadratic parser takes ten minutes and meets the tests' timeout."""
    page_text(piece * (300_000 // len(piece)), URL)


pieces = st.lists(
    st.sampled_from(
        [
            "<p>",
            "</p>",
            "<div hidden>",
            "</div>",
            "<a href='/x'>",
            "</a>",
            "<pre>",
            "</pre>",
            "<li>",
            "<nav>",
            "</nav>",
            "<h1>",
            "</h1>",
            "<title>",
            "</title>",
            "<head>",
            "<body>",
            "<!--",
            "-->",
            "<",
            ">",
            "&amp;",
            "'",
            '"',
            "=",
            " text ",
            "\n",
            "<td>",
            "<main>",
            "</main>",
            "<br>",
            "<script>",
            "</script>",
            "\x00",
            "é",
        ]
    )
).map("".join)


@given(pieces | st.text())
def test_any_markup_becomes_text(markup: str):
    """Any markup gives a text, and the same text each time."""
    page = page_text(markup, URL)
    assert page == page_text(markup, URL)
    assert not re.search(r"\n{4,}", page.text) or "<pre>" in markup


@pytest.mark.parametrize(
    "piece",
    [
        *("<p>", "<div>", "<", "<b>x", "</p>", "<a href=x>", "<ul><li>", "<pre>", "<h1>", "<p hidden>", "<b><p>"),
        *("<table>a", "<a><b><i>", "<li>", "<td>", "<nav>"),
    ],
)
def test_a_page_of_tags_takes_bounded_steps(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps grow linearly with the length, up to the limit of tokens."""
    assert growth_of(lambda size: page_text(piece * size, "https://a.example/"), 200) < 2.3
    monkeypatch.setattr(module, "_MOST_TOKENS", 200)
    assert growth_of(lambda size: page_text(piece * size, "https://a.example/"), 400) < 1.1


def test_tokens_beyond_the_limit_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Text before the limit is read as before."""
    monkeypatch.setattr(module, "_MOST_TOKENS", 7)
    assert page_text("<p>One.</p><p>Two.</p><p>Three.</p>", "https://a.example/").text == "One.\n\nTwo."
