"""The simulated model writes pages: when it does, and what they contain."""

from html.parser import HTMLParser
from typing import Any

import pytest
from signalbox.simulator.pages.looks import LOOKS
from signalbox.simulator.pages.page import page_of
from signalbox.simulator.pages.wishes import Kind, Wish, wish_of

from tests.unit.simulator.pages.designer import Designer
from tests.unit.simulator.requests import FAMILIES, TOOLS

PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
_EMPTY = {"meta", "img", "input"}


class Balanced(HTMLParser):
    """Checks that every element is closed, and counts them."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.append(tag)
        if tag not in _EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: look.style)
@pytest.mark.parametrize("kind", ["landing", "dashboard", "tasks", "form"])
def test_a_page_is_complete(kind: Kind, look: Any) -> None:
    """3 to 10 kB of HTML in which every element is closed and nothing is loaded from elsewhere."""
    page = page_of(Wish(kind, "Crumb & <Co>", "bakery", "index.html"), look, ("images/a.png",))
    assert 3_000 < len(page.html) < 10_000
    parser = Balanced()
    parser.feed(page.html)
    assert parser.open == []
    assert {"title", "style", "h1", "main", "script"} <= set(parser.seen)
    assert page.html.startswith("<!doctype html>")
    assert "://" not in page.html
    assert "Crumb &amp; &lt;Co&gt;" in page.html
    assert page.html.count("</main>") == page.html.count("</body>") == page.html.count("</style>") == 1


@pytest.mark.parametrize(
    ("question", "kind", "name", "path"),
    [
        ("Build a landing page for a bakery called “Crumb”.", "landing", "Crumb", "index.html"),
        ("Please create a dashboard for my bike shop in shop.html", "dashboard", "Bike shop", "shop.html"),
        ("Make a to-do app", "tasks", "My tasks", "index.html"),
        ("I need a sign-up form", "form", "Welcome", "index.html"),
        ("design me a website about tea, with a dark look", "landing", "Tea", "index.html"),
    ],
)
def test_the_words_of_a_question_decide_the_page(question: str, kind: str, name: str, path: str) -> None:
    """The kind of page, its name and its path."""
    designer = Designer()
    answer = designer.request(question)
    assert designer.called == ["create_file"]
    assert f"`{path}` is ready" in answer
    assert designer.turns[0].text.startswith("I'll build ")
    text = designer.workspace.text(path)
    assert text is not None
    assert f"<h1>{name}</h1>" in text
    assert wish_of(question, has_picture=False).kind == kind


@pytest.mark.parametrize("text", ["", "Build this.", "Turn this screenshot into a page", "?"])
def test_a_picture_becomes_a_page(text: str) -> None:
    """With or without words; the model says that it cannot see the picture."""
    designer = Designer()
    designer.request([*([{"type": "text", "text": text}] if text else []), PICTURE])
    assert designer.called == ["create_file"]
    assert "cannot see the picture" in designer.turns[0].text


def test_variants_and_families_look_different() -> None:
    """Further answers to a question, and families at the same number, get different pages."""
    for designers in (
        [Designer(before=before) for before in range(4)],
        [Designer(model=f"{family}/sim") for family in FAMILIES[:4]],
    ):
        for designer in designers:
            designer.request("Build a page for a bakery")
        assert len({designer.page for designer in designers}) == 4


def test_images_are_drawn_first_if_they_are_asked_for() -> None:
    """The page uses their paths. Without the tool, it has none."""
    designer = Designer(draws=True)
    designer.request("Build a page for a bakery with photos")
    assert designer.called == ["generate_images", "create_file"]
    assert 'src="images/0.png"' in designer.page
    plain = Designer()
    plain.request("Build a page for a bakery with photos")
    assert plain.called == ["create_file"]


def test_a_new_page_replaces_the_old_one_only_if_one_is_asked_for() -> None:
    """“Make the page …” is a change; “build a new page” overwrites."""
    designer = Designer()
    designer.request("Build a page for a bakery")
    designer.request("Build a new page for a gym")
    assert designer.called == ["create_file"]
    assert "<h1>Gym</h1>" in designer.page
    designer.request("Create a second page about.html about prices")
    assert designer.workspace.text("about.html")


def test_a_file_that_exists_already_is_overwritten_at_the_second_attempt() -> None:
    """The model does not know of a file that a person has written; the error tells it."""
    designer = Designer()
    designer.workspace.add("index.html", b"mine", author="person")
    designer.request("Build a page for a bakery")
    assert designer.called == ["create_file", "create_file"]
    assert "<h1>Bakery</h1>" in designer.page


@pytest.mark.parametrize("question", ["What is 17 * 23?", "Hello!", "How do tool calls stream?"])
def test_other_questions_are_answered_as_before(question: str) -> None:
    """Offered file tools alone change nothing."""
    designer = Designer()
    designer.request(question)
    assert designer.called == []


def test_without_the_tool_nothing_changes() -> None:
    """A request that offers no create_file gets words."""
    designer = Designer()
    answer = designer.request("Build a page for a bakery", tools=TOOLS)
    assert designer.called == []
    assert "`index.html`" not in answer


def test_with_tools_off_the_model_answers_in_words() -> None:
    """At the step limit it says what there is."""
    designer = Designer()
    designer.request("Build a page for a bakery")
    answer = designer.request("Add a footer", tool_choice="none")
    assert designer.called == []
    assert "cannot change" in answer
