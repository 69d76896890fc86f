"""The order of sections that the index ranks equally."""

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


def test_the_most_similar_heading_comes_first():
    """A heading with only the question's words precedes one with further words."""
    same, more = found("same.md", "How are searches limited (clamp)"), found("more.md", "Limited searches of a run")
    assert order("searches limited", more, same) == ["same.md", "more.md"]


def test_an_alternative_name_counts_if_the_question_has_it():
    """Text in parentheses otherwise does not lower the score."""
    clamp, other = found("clamp.md", "How are searches limited (clamp)"), found("other.md", "Clamp and much else here")
    assert order("clamp", other, clamp) == ["clamp.md", "other.md"]


def test_guides_precede_decision_records():
    """A guide precedes an equally good record; a much better record comes first."""
    record, guide = found("decisions/0001-x.md", "Limits"), found("guide.md", "Limits")
    assert order("limits", record, guide) == ["guide.md", "decisions/0001-x.md"]
    better = found("decisions/0001-x.md", "Limits", score=3.0)
    assert order("limits", guide, better) == ["decisions/0001-x.md", "guide.md"]


def test_pages_precede_index_pages():
    """README and index pages contain links, not answers."""
    assert order("limits", found("a/README.md", "Limits"), found("b.md", "Limits")) == ["b.md", "a/README.md"]


def test_a_matching_title_raises_the_rank():
    """The title of the page counts besides the heading."""
    named, other = found("named.md", "In short", "The clamp"), found("other.md", "In short", "Runs")
    assert order("the clamp", other, named) == ["named.md", "other.md"]
