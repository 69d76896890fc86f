"""The order of what the index found, given sections that it holds to be equally good."""

from signalbox.services.search.docs_index import Found
from signalbox.services.search.docs_rank import ranked
from signalbox.services.search.docs_snippet import stems

UNASKED = frozenset({"what", "is", "how", "are"})


def found(path: str, heading: str, title: str = "Page", score: float = 1.0) -> Found:
    """Make a section."""
    return Found(path, title, heading, "", "", "2025-03-01", score)


def order(question: str, *sections: Found) -> list[str]:
    """Return the paths, best first."""
    return [one.path for one in ranked(list(sections), stems(question), UNASKED)]


def test_the_heading_that_asks_the_same_comes_first():
    """A heading of the question's own words goes before one that has more beside them."""
    same, more = found("same.md", "How are searches limited (clamp)"), found("more.md", "Limited searches of a run")
    assert order("searches limited", more, same) == ["same.md", "more.md"]


def test_what_stands_in_parentheses_counts_where_it_is_asked_for():
    """The other name of a section is found, and costs nothing where it is not."""
    clamp, other = found("clamp.md", "How are searches limited (clamp)"), found("other.md", "Clamp and much else here")
    assert order("clamp", other, clamp) == ["clamp.md", "other.md"]


def test_records_of_decisions_come_behind_guides():
    """Equal otherwise, a guide goes first; a record that is far better still comes first."""
    record, guide = found("decisions/0001-x.md", "Limits"), found("guide.md", "Limits")
    assert order("limits", record, guide) == ["guide.md", "decisions/0001-x.md"]
    better = found("decisions/0001-x.md", "Limits", score=3.0)
    assert order("limits", guide, better) == ["decisions/0001-x.md", "guide.md"]


def test_a_list_of_pages_comes_behind_the_pages():
    """README and index hold links to answers."""
    assert order("limits", found("a/README.md", "Limits"), found("b.md", "Limits")) == ["b.md", "a/README.md"]


def test_a_page_of_that_title_comes_first():
    """The title of the page counts beside the heading."""
    named, other = found("named.md", "In short", "The clamp"), found("other.md", "In short", "Runs")
    assert order("the clamp", other, named) == ["named.md", "other.md"]
