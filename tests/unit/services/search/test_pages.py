"""Files become sections: headings, titles, and text without markup."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from signalbox.services.search.pages import Page, Section, read_page, slug


def test_markdown_is_cut_at_headings():
    """Text before the first heading is a section, a # in a code block is no heading, and code is indented."""
    text = "Intro.\n\n# The *Title*\n\nOne.\n\n```sh\n# not a heading\n```\n\n## Second `part` ##\nTwo.\n### Empty\n"
    assert read_page("a/b.md", text) == Page(
        "The *Title*",
        [
            Section("", "", "Intro."),
            Section("The *Title*", "the-title", "One.\n\n\n    # not a heading"),
            Section("Second part", "second-part", "Two."),
            Section("Empty", "empty", ""),
        ],
    )


def test_a_code_block_may_contain_shorter_marks():
    """Only marks of the same kind and at least the same length close a code block."""
    page = read_page("a.md", "````\n```\n# inside\n````\n# Outside\n")
    assert [section.heading for section in page.sections] == ["", "Outside"]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: 'From the front'\nx: 1\n---\n# Heading\n", "From the front"),
        ("# First\n\n# Second\n", "First"),
        ("## Only second level\ntext\n", "my page"),
        ("plain\n", "my page"),
    ],
)
def test_a_page_has_a_title(text: str, title: str):
    """Front matter, else the first heading of level one, else the file's name."""
    assert read_page("docs/my-page.md", text).title == title


def test_markup_is_removed_and_code_is_kept():
    """Links keep their text; names in code and in angle brackets stay."""
    text = "See [the guide](a.md 'x') and **bold** `__init__.py`.<br>\n<!-- no -->\n`data: <json>`\n"
    [section] = read_page("a.md", text).sections
    assert " ".join(section.body.split()) == "See [the guide](a.md 'x') and bold __init__.py. data: <json>"
    [link] = read_page("a.md", '![alt](x.png) [words](b.md "title")').sections
    assert link.body == "alt words"


def test_a_row_of_a_table_is_a_sentence():
    """A row becomes its first cell, a colon and the other cells; the header row is omitted."""
    rows = "| `complete` | a whole answer | it |\n| a \\| b | | Yes. | No. |\n| x |\n"
    text = f"| status | means | shows |\n|---|:---:|---|\n{rows}"
    [section] = read_page("a.md", text).sections
    assert section.body.split("\n") == ["complete: a whole answer; it.", "a | b: Yes. No.", "x."]


def test_slugs_are_githubs():
    """Lower case, hyphens, no punctuation, numbers for repeats; letters of any script stay."""
    taken: dict[str, int] = {}
    headings = ["What's new?", "A — b", "TOOL_LOOP_V2", "Größe", "What's new?", "What's new?"]
    assert [slug(heading, taken) for heading in headings] == [
        "whats-new",
        "a--b",
        "tool_loop_v2",
        "größe",
        "whats-new-1",
        "whats-new-2",
    ]


def test_html_is_cut_at_headings_without_hidden_parts():
    """Scripts, styles and navigation are omitted; a heading's id is its anchor."""
    text = (
        "<html><head><title>A &amp; B</title><style>x{}</style></head><body><nav>menu</nav><p>Intro</p>"
        '<h1 id="top">Top <b>one</b></h1><p>First<br>line</p><script>alert(1)</script><h2>Next</h2><p>Second</p></body>'
    )
    assert read_page("a.html", text) == Page(
        "A & B", [Section("", "", "Intro"), Section("Top one", "top", "First\nline"), Section("Next", "next", "Second")]
    )


def test_plain_text_is_one_section():
    """Plain text has no markup."""
    assert read_page("notes/to_do.txt", "# one\n<b>\n") == Page("to do", [Section("", "", "# one\n<b>")])


@given(st.sampled_from(["a.md", "a.html", "a.txt"]), st.text(alphabet="#`~<>-|[]()!/h1 a\n\"'=&", max_size=200))
def test_any_text_gives_a_short_line(path: str, text: str):
    """Every section of any file has a heading or a body."""
    page = read_page(path, text)
    assert page.title
    assert all(path == "a.txt" or section.heading or section.body for section in page.sections)


class Counted(dict[str, int]):
    """A dict that counts lookups."""

    asked = 0

    def __contains__(self, name: object) -> bool:
        self.asked += 1
        return super().__contains__(name)


def test_a_repeated_heading_takes_one_lookup():
    """Numbering continues from the last number instead of starting over."""
    taken = Counted()
    names = [slug("Example", taken) for _ in range(10_000)]
    assert names[:2] == ["example", "example-1"]
    assert len(set(names)) == 10_000
    assert taken.asked < 3 * 10_000


@pytest.mark.parametrize(
    ("line", "heading"),
    [
        ("# A", "A"),
        ("## A ##", "A"),
        ("# A#", "A#"),
        ("# A # B ###  ", "A # B"),
        ("#", ""),
        ("# ##", ""),
        ("#  A \t", "A"),
    ],
)
def test_a_closing_row_of_hashes_is_no_part_of_a_heading(line: str, heading: str):
    """CommonMark: a heading may be closed by any number of # behind a blank."""
    sections = read_page("a.md", f"{line}\ntext").sections
    assert [section.heading for section in sections] == [heading]


def test_comments_are_left_out_and_an_open_one_stays():
    """Closed comments are removed; an unclosed one stays as text."""
    text = "# A\none <!-- two\n--> three <!-- four <!-- five"
    assert read_page("a.md", text).sections[0].body == "one   three <!-- four <!-- five"
    page = read_page("a.html", "<h1>A</h1><p>one <!-- two --> three <!-- four</p>")
    assert page.sections[-1].body.split() == ["one", "three", "four"]
