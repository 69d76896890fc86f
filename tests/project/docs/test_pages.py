"""Every page starts with its topic, its links work, and it contains nothing private."""

import re
from pathlib import Path

import pytest

from tests.project.docs.pages import DOCS, PAGES, ROOT, Page, codes_in, page, pages, rows

_IDS = [str(path.relative_to(DOCS)) for path in PAGES]
_QUIRK = re.compile(r"\bquirks? ([A-H]\d+(?:(?: to | and |, )[A-H]\d+)*)|[;(] ?([A-H]\d{1,2})(?: [a-z])?[),]")


@pytest.mark.parametrize("one", pages(), ids=_IDS)
def test_a_page_begins_with_one_title_and_its_answer(one: Page) -> None:
    """The first line is the only title, followed by text."""
    titles = [heading for heading in one.headings if heading.level == 1]
    assert one.text.startswith("# ")
    assert len(titles) == 1
    assert titles[0].body


@pytest.mark.parametrize("one", pages(), ids=_IDS)
def test_every_link_resolves(one: Page) -> None:
    """Links lead to files of the repository, and anchors to headings."""
    for link in one.links:
        if link.startswith(("http://", "https://")):
            continue
        name, _, anchor = link.partition("#")
        target = (one.path.parent / name).resolve() if name else one.path
        assert target.is_file(), link
        assert target.is_relative_to(ROOT), link
        assert not anchor or anchor in Page(target, target.read_text(encoding="utf-8")).anchors, link


@pytest.mark.parametrize("one", pages(), ids=_IDS)
def test_no_heading_is_used_twice_on_a_page(one: Page) -> None:
    """Headings are unique, so anchors stay stable when sections are added."""
    texts = [heading.text for heading in one.headings]
    assert len(texts) == len(set(texts))


@pytest.mark.parametrize("one", pages(), ids=_IDS)
def test_sections_are_short(one: Page) -> None:
    """No paragraph is longer than a phone's screen."""
    for heading in one.headings:
        for paragraph in heading.body.split("\n\n"):
            if not paragraph.startswith(("|", "#", "1.")):
                assert len(paragraph) <= 750, f"{heading.text}: {len(paragraph)} characters"


@pytest.mark.parametrize("one", pages(), ids=_IDS)
def test_nothing_of_this_machine_is_named(one: Page) -> None:
    """No page contains a path of a build machine or a key."""
    assert not re.search(r"/(?:root|home|work|tmp)/|sk-or-v1", one.text)


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_every_link_from_the_root_resolves(name: str) -> None:
    """Links of the repository's top-level pages lead to existing files."""
    one = Page(ROOT / name, (ROOT / name).read_text(encoding="utf-8"))
    inside = [link for link in one.links if not link.startswith("https://")]
    assert inside or name != "README.md"
    assert [link for link in inside if not (ROOT / link.partition("#")[0]).is_file()] == []


def test_every_page_is_listed() -> None:
    """docs/README.md links every page; the lists of decisions and of clients link theirs."""
    for index in map(page, ("README.md", "decisions/README.md", "clients/README.md")):
        listed = {(index.path.parent / link.partition("#")[0]).resolve() for link in index.links}
        missing = [path.name for path in index.path.parent.glob("*.md") if path.resolve() not in listed]
        assert missing in ([], ["README.md"])


def test_every_decision_is_short_and_has_its_three_parts() -> None:
    """Decisions are numbered without gaps, with context, decision and consequences in 10 to 30 lines."""
    files = sorted(DOCS.glob("decisions/0*.md"))
    assert [path.name[:4] for path in files] == [f"{number:04}" for number in range(1, len(files) + 1)]
    for path in files:
        one = Page(path, path.read_text(encoding="utf-8"))
        title, *parts = [heading.text for heading in one.headings]
        assert title.startswith(path.name[:4] + " ")
        assert parts == ["Context", "Decision", "Consequences"], path.name
        assert 10 <= len(one.text.splitlines()) <= 30, path.name


def test_every_quirk_that_the_code_names_is_explained() -> None:
    """Quirk ids in comments, like "quirk A4", are in docs/quirks.md."""
    explained = {cells[0] for cells in rows(page("quirks.md").text)}
    named: dict[str, Path] = {}
    for path in [*ROOT.glob("backend/**/*.py"), *ROOT.glob("frontend/src/**/*.ts*")]:
        for match in _QUIRK.finditer(path.read_text(encoding="utf-8")):
            for quirk in re.findall(r"[A-H]\d+", match[1] or match[2]):
                named.setdefault(quirk, path)
    assert len(named) > 30
    assert {quirk: path.name for quirk, path in named.items() if quirk not in explained} == {}


def test_every_verb_that_is_shown_exists() -> None:
    """`./just VERB` is a recipe of the justfile, `signalbox VERB` a command."""
    recipes = set(
        re.findall(r"^([a-z][\w-]*)(?: \*args)?:", (ROOT / "justfile").read_text(encoding="utf-8"), re.MULTILINE)
    )
    cli = (ROOT / "backend/signalbox/cli.py").read_text(encoding="utf-8")
    verbs = set(re.findall(r'add_parser\("([a-z-]+)"', cli))
    assert {"start", "test"} <= recipes
    assert {"serve", "check-stream"} <= verbs
    for path in [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"]:
        text = path.read_text(encoding="utf-8")
        shown = "\n".join([*codes_in(text), *re.findall(r"^\.?/?(?:just|signalbox) .*$", text, re.MULTILINE)])
        assert set(re.findall(r"\./just ([a-z][\w-]*)", shown)) <= recipes, path.name
        assert set(re.findall(r"^signalbox ([a-z-]+)", shown, re.MULTILINE)) <= verbs, path.name


def test_every_file_that_is_named_exists() -> None:
    """A path in backticks exists, unless its row says that it is planned."""
    roots = ("backend/", "frontend/", "scripts/", "tests/", "docs/", "requirements/", "deploy/", ".ci/")
    for one in pages():
        prose = "\n".join(line for line in one.prose.splitlines() if "| no, planned" not in line)
        for name in codes_in(prose):
            if name.startswith(roots) and " " not in name:
                assert (ROOT / name.partition("::")[0]).exists() or "*" in name, f"{one.path.name}: {name}"
