"""Follow-ups: which exact edits the simulated model makes."""

import pytest
from signalbox.simulator.pages.changes import change_of
from signalbox.simulator.pages.looks import LOOKS
from signalbox.simulator.pages.page import page_of
from signalbox.simulator.pages.wishes import Wish

from tests.support.memory_workspace import MemoryWorkspace
from tests.unit.simulator.pages.designer import Designer

FOREIGN = "<html>\n<head><title>Mine</title></head>\n<body>\n<h1>Mine</h1>\n</body>\n</html>\n"


def built(**fields: object) -> Designer:
    """Return a conversation with a page."""
    designer = Designer(**fields)  # type: ignore[arg-type]
    designer.request("Build a landing page for a bakery")
    return designer


@pytest.mark.parametrize(
    ("question", "after", "answer"),
    [
        ("Make the heading blue", "--heading: #1d4ed8;", "The headings are now #1d4ed8"),
        ("make the background #FAFAD2 please", "--page: #FAFAD2;", "The background is now #FAFAD2"),
        ("Use green for the buttons", "--accent: #15803d;", "The buttons and links are now #15803d"),
        ("Add a footer", '<footer class="footer">', "The page has a footer now"),
        ("dark mode", "color-scheme: dark;", "The page now has a dark background"),
        ("Can you change the heading to “Good morning”?", "<h1>Good morning</h1>", "The heading is now “Good morning”"),
        ("make the text bigger", "--size: 20px;", "The text is bigger now"),
        ("Make the corners rounder", "--radius: 28px;", "The corners are rounder now"),
        ("Add a price list", "<h2>Price list</h2>", "The page has a new part, “Price list”"),
        ("Make it more modern", f"--accent: {LOOKS[1].accent};", "The page now has"),
    ],
)
def test_a_follow_up_edits_the_page(question: str, after: str, answer: str) -> None:
    """One call of edit_file with exact text from the history, a sentence before and one after it."""
    designer = built()
    assert after not in designer.page
    said = designer.request(question)
    assert designer.called == ["edit_file"]
    assert after in designer.page
    assert designer.turns[0].text == "I'll change that in `index.html`."
    assert said.startswith(answer)


@pytest.mark.parametrize(
    ("question", "after"),
    [
        ("Make the buttons yellow", "--on-accent: #1a1a1a;"),
        ("Make the buttons navy", "--on-accent: #ffffff;"),
        ("Make the background black", "--ink: #e7e8ec;"),
        ("Make the background #fed", "--ink: #24262b;"),
    ],
)
def test_text_stays_readable_on_a_new_colour(question: str, after: str) -> None:
    """Light colours get dark text, and dark ones light text."""
    designer = built()
    designer.request(question)
    assert after in designer.page


def test_a_part_can_be_removed_and_is_then_gone() -> None:
    """A second time there is nothing to do for it."""
    designer = built()
    assert 'class="quote"' in designer.page
    designer.request("Remove the quote")
    assert 'class="quote"' not in designer.page


def test_several_changes_build_on_each_other() -> None:
    """The model knows the file as its edits left it."""
    designer = built()
    for question in ("dark mode", "make the heading pink", "add a footer", "light mode", "make the heading blue"):
        designer.request(question)
        assert designer.called == ["edit_file"], question
    assert "--heading: #1d4ed8;" in designer.page
    assert "color-scheme: light;" in designer.page
    assert designer.request("make the heading blue") == "`index.html` is like that already, so I changed nothing."


def test_a_page_that_a_person_changed_is_read_again() -> None:
    """An edit that does not match fails; the model reads the file and tries once more."""
    designer = built()
    designer.workspace.add("index.html", FOREIGN.encode(), author="person")
    designer.request("make the heading blue")
    assert designer.called == ["edit_file", "read_file", "edit_file"]
    assert "h1, h2, h3 { color: #1d4ed8; }" in designer.page


def test_a_note_about_changes_of_the_user_makes_the_model_read_them() -> None:
    """The note stands in front of the question, and is no part of it."""
    designer = built()
    designer.workspace.add("index.html", FOREIGN.encode(), author="person")
    note = "<user_changes>\nThe user changed index.html (version 2):\n-remove this\n+<h1>Mine</h1>\n</user_changes>\n\n"
    designer.request(f"{note}Make the page dark")
    assert designer.called == ["read_file", "edit_file"]
    assert "<h1>Mine</h1>" in designer.page
    assert "background: #14151a" in designer.page


def test_an_unknown_page_is_read_first() -> None:
    """Without a history the model reads the file; without a file it says so."""
    designer = Designer(workspace=MemoryWorkspace({"index.html": FOREIGN}))
    designer.request("Add a footer to the page")
    assert designer.called == ["read_file", "edit_file"]
    assert "<footer" in designer.page
    assert "There is no page yet" in Designer().request("Make the heading blue")


def test_images_are_added_to_a_page() -> None:
    """They are drawn first."""
    designer = built(draws=True)
    designer.request("Add two photos")
    assert designer.called == ["generate_images", "edit_file"]
    assert 'src="images/1.png"' in designer.page


@pytest.mark.parametrize(
    ("question", "calls", "after"),
    [
        ("Take the heading of option 2", ["retrieve_option", "edit_file"], "<h1>Theirs</h1>"),
        ("Use the colours of variant 2", ["retrieve_option", "edit_file"], f"--accent: {LOOKS[3].accent};"),
        ("Compare this with option 2", ["retrieve_option"], "<h1>Bakery</h1>"),
    ],
)
def test_another_option_is_read(question: str, calls: list[str], after: str) -> None:
    """A part of it is taken over, or both are compared."""
    other = page_of(Wish("landing", "Theirs", "", "index.html"), LOOKS[3]).html
    designer = built(workspace=MemoryWorkspace(variants={1: {}, 2: {"index.html": other}}))
    answer = designer.request(question)
    assert designer.called == calls
    assert after in designer.page
    if "Compare" in question:
        assert "| heading | Bakery | Theirs |" in answer


def test_an_option_that_does_not_exist_is_reported() -> None:
    """The answer has the tool's error."""
    assert "I could not read option 7" in built().request("Compare this with option 7")


@pytest.mark.parametrize("question", ["dark mode", "Add a footer", "make the heading blue", "make the text bigger"])
def test_pages_of_others_can_be_changed_too(question: str) -> None:
    """A page without our variables gets a rule; every edit matches exactly once."""
    change = change_of(question, FOREIGN)
    assert change is not None
    assert all(FOREIGN.count(old) == 1 for old, _ in change.edits)
