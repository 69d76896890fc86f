"""The docs backend over real folders and a real SQLite."""

import asyncio
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from signalbox.core.tools import SearchHit, SearchQuery
from signalbox.services.search import docs_index
from signalbox.services.search.docs import DocsSearch, match_expressions
from signalbox.services.search.docs_index import scan

pytestmark = pytest.mark.anyio


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a handbook of four pages."""
    root = tmp_path / "handbook"
    write(
        root / "guide" / "runs.md", "# Runs\n\nA run is one request.\n\n## Stopping a run\n\nStops within a second.\n"
    )
    write(root / "setup.md", "# Set-up\n\nInstall with one command. See TOOL_LOOP_V2.\n")
    write(root / "notes.txt", "Pandas eat bamboo.\n")
    write(root / "page.html", "<title>Keys</title><h2 id='k'>API keys</h2><p>Never logged.</p>")
    return root


def write(path: Path, text: str, day: str = "2025-03-01") -> None:
    """Write a file with a modification date."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    set_day(path, day)


def set_day(path: Path, day: str) -> None:
    """Set the modification date of a file."""
    seconds = datetime.fromisoformat(day).replace(hour=12, tzinfo=UTC).timestamp()
    os.utime(path, (seconds, seconds))


Open = Callable[..., DocsSearch]


@pytest.fixture
def opened() -> Iterator[Open]:
    """Make backends that check for changes at every search, and close them at the end."""
    made: list[DocsSearch] = []

    def make(folder: Path, database: Path | None = None, *, rescan_after: float = 0, own: bool = False) -> DocsSearch:
        search = DocsSearch(folder, database, own=own, rescan_after=rescan_after, today=lambda: date(2025, 3, 10))
        made.append(search)
        return search

    yield make
    for search in made:
        search.close()


async def urls(search: DocsSearch, text: str, **limits: str) -> list[str]:
    """Return the URLs found, best first."""
    return [hit.url for hit in await search.search(SearchQuery(text, 5, **limits))]  # type: ignore[arg-type]


async def test_a_hit_is_a_section_with_its_address(opened: Open, folder: Path):
    """A hit has "title › heading", a URL under /guide/ with the anchor, the text around the match, and the date."""
    assert await opened(folder).search(SearchQuery("How do I stop a run?")) == [
        SearchHit(
            "Runs › Stopping a run", "/guide/guide/runs.md#stopping-a-run", "Stops within a second.", "2025-03-01"
        )
    ]


async def test_every_kind_of_file_is_found(opened: Open, folder: Path):
    """Markdown, HTML and plain text, by any form of a word (porter) and in any case."""
    search = opened(folder)
    assert await urls(search, "installing") == ["/guide/setup.md#set-up"]
    assert await urls(search, "PANDA eats") == ["/guide/notes.txt"]
    assert await urls(search, "api key") == ["/guide/page.html#k"]
    assert await urls(search, "tool_loop_v2") == ["/guide/setup.md#set-up"]


async def test_sections_of_a_page_are_one_hit(opened: Open, folder: Path):
    """A page is one source, with the text of its two best sections."""
    [hit] = await opened(folder).search(SearchQuery("run", 5))
    assert hit.url.startswith("/guide/guide/runs.md#")
    assert "A run is one request." in hit.snippet
    assert "Stops within a second." in hit.snippet


async def test_the_query_is_relaxed_until_something_matches(opened: Open, folder: Path):
    """All words, then any word, then the beginning of a word; otherwise nothing."""
    search = opened(folder)
    assert await urls(search, "bamboo unicorn") == ["/guide/notes.txt"]
    assert await urls(search, "bambo") == ["/guide/notes.txt"]
    assert await urls(search, "unicorn") == []
    assert await urls(search, "???") == []


async def test_a_phrase_is_matched_as_one(opened: Open, folder: Path):
    """Words in quotes must be adjacent."""
    search = opened(folder)
    assert await urls(search, '"one request"') == ["/guide/guide/runs.md#runs"]
    assert await urls(search, '"request one"') == []


async def test_snippets_are_short_and_around_the_hit(opened: Open, folder: Path):
    """A long section is shown where the words are."""
    write(folder / "long.md", "# Long\n\n" + "filler words here " * 500 + "the needle lies here " + "more of it " * 500)
    [hit] = await opened(folder).search(SearchQuery("needle"))
    assert "needle lies here" in hit.snippet
    assert len(hit.snippet) < 450


async def test_limit_is_kept(opened: Open, folder: Path):
    """At most the requested number of hits is returned, best first."""
    for i in range(9):
        write(folder / f"p{i}.md", f"# Page {i}\n\nzebra {'zebra ' * i}\n")
    assert len(await opened(folder).search(SearchQuery("zebra", 4))) == 4


@pytest.mark.parametrize(
    ("limits", "found"),
    [
        ({"after": "2025-03-01"}, 1),
        ({"after": "2025-03-02"}, 0),
        ({"before": "2025-03-01"}, 1),
        ({"before": "2025-02-28"}, 0),
        ({"time_hint": "month"}, 1),
        ({"time_hint": "week"}, 0),
        ({"time_hint": "month", "after": "2025-03-05"}, 0),
    ],
)
async def test_time_limits_go_by_the_day_of_the_file(opened: Open, folder: Path, limits: dict[str, str], found: int):
    """Both dates are inclusive, and the stricter of two limits applies."""
    assert len(await urls(opened(folder), "bamboo", **limits)) == found


async def test_changes_are_followed(opened: Open, folder: Path):
    """New, changed and removed files are found or missing in the next search."""
    search = opened(folder)
    assert await urls(search, "bamboo") == ["/guide/notes.txt"]
    write(folder / "notes.txt", "Pandas sleep a lot.\n", "2025-03-02")
    write(folder / "new.md", "# Fresh\n\nBamboo again.\n")
    assert await urls(search, "bamboo") == ["/guide/new.md#fresh"]
    assert await urls(search, "sleep") == ["/guide/notes.txt"]
    (folder / "new.md").unlink()
    assert await urls(search, "bamboo") == []
    assert search.about == "the Markdown, text and HTML files of the folder handbook (4 pages)"


async def test_the_folder_is_not_scanned_at_every_search(opened: Open, folder: Path):
    """Within `rescan_after` a search reads the index only."""
    search = opened(folder, rescan_after=3600)
    await search.prepare()
    write(folder / "new.md", "# Fresh\n\nunicorn\n")
    assert await urls(search, "unicorn") == []


async def test_a_file_that_changes_while_the_folders_are_read_is_found(
    monkeypatch: pytest.MonkeyPatch, opened: Open, folder: Path
) -> None:
    """A note that is saved during the first look is not lost until the next one is due."""
    search = opened(folder, rescan_after=3600)
    refresh = docs_index.DocsIndex.refresh

    def saved_meanwhile(index: docs_index.DocsIndex) -> object:
        counted = refresh(index)
        if not (folder / "new.md").exists():
            write(folder / "new.md", "# Fresh\n\nunicorn\n")
            search.changed()
        return counted

    monkeypatch.setattr(docs_index.DocsIndex, "refresh", saved_meanwhile)
    await search.prepare()
    assert await urls(search, "unicorn") != []


def test_it_says_what_it_searches(opened: Open, folder: Path):
    """`about` has the number of pages before anything is indexed."""
    assert opened(folder).about == "the Markdown, text and HTML files of the folder handbook (4 pages)"
    assert opened(folder, own=True).about == "Signalbox's own documentation (4 pages)"
    (folder / "guide" / "runs.md").unlink()
    (folder / "notes.txt").unlink()
    (folder / "page.html").unlink()
    assert "(1 page)" in opened(folder).about


def test_only_suitable_files_are_indexed(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Hidden, huge and external files, other types, and files beyond the limit are skipped."""
    usual = set(scan(folder))
    write(tmp_path / "secret.md", "secret")
    write(folder / ".hidden.md", "x")
    write(folder / ".git" / "x.md", "x")
    write(folder / "node_modules" / "x.md", "x")
    write(folder / "code.py", "x")
    write(folder / "huge.md", "x" * (docs_index.LARGEST_FILE + 1))
    (folder / "link.md").symlink_to(tmp_path / "secret.md")
    (folder / "away").symlink_to(tmp_path)
    (folder / "gone.md").symlink_to(folder / "nothing.md")
    (folder / "loop.md").symlink_to(folder / "loop.md")
    assert set(scan(folder)) == usual
    (folder / "inside.md").symlink_to(folder / "setup.md")
    assert set(scan(folder)) == usual | {"inside.md"}
    monkeypatch.setattr(docs_index, "MOST_FILES", 2)
    assert len(scan(folder)) == 2


async def test_odd_files_do_no_harm(opened: Open, folder: Path):
    """Binary, badly encoded, empty and oddly named files are indexed or skipped."""
    (folder / "binary.md").write_bytes(b"\x00\x01bamboo")
    (folder / "latin.md").write_bytes("# Caf\xe9 bamboo\n".encode("latin-1"))
    (folder / "bom.md").write_bytes(b"\xef\xbb\xbf# Marked bamboo\n")
    (folder / "empty.md").write_bytes(b"")
    write(folder / "a b#c%.md", "bamboo")
    (folder / os.fsdecode(b"bad\xff.md")).write_text("bamboo")
    found = await urls(opened(folder), "bamboo")
    assert sorted(found) == [
        "/guide/a%20b%23c%25.md",
        "/guide/bom.md#marked-bamboo",
        "/guide/latin.md#caf-bamboo",
        "/guide/notes.txt",
    ]


async def test_an_index_on_disk_is_used_again(
    opened: Open, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A second start reads only changed files."""
    database = tmp_path / "data" / "docs.sqlite"
    first = opened(folder, database)
    await first.prepare()
    first.close()
    write(folder / "setup.md", "# Set-up\n\nChanged.\n", "2025-03-05")
    read: list[str] = []
    real = docs_index.read_page
    monkeypatch.setattr(docs_index, "read_page", lambda path, text: (read.append(path), real(path, text))[1])
    second = opened(folder, database)
    assert await urls(second, "bamboo") == ["/guide/notes.txt"]
    assert read == ["setup.md"]
    second.close()


@pytest.mark.parametrize("damage", ["garbage", "other folder", "other format"])
async def test_an_unsuitable_index_is_recreated(opened: Open, folder: Path, tmp_path: Path, damage: str):
    """A broken file, another folder's index and an older format are replaced."""
    database = tmp_path / "docs.sqlite"
    if damage == "garbage":
        database.write_bytes(b"not a database at all " * 500)
    else:
        other = opened(tmp_path / "handbook" / "guide" if damage == "other folder" else folder, database)
        await other.prepare()
        other.close()
    if damage == "other format":
        with sqlite3.connect(database) as connection:
            connection.execute("PRAGMA user_version = 99")
            connection.execute("DROP TABLE pages")
        connection.close()
    search = opened(folder, database)
    assert await urls(search, "bamboo") == ["/guide/notes.txt"]
    search.close()


async def test_an_index_that_cannot_be_written_is_kept_in_memory(opened: Open, folder: Path, tmp_path: Path):
    """A data folder that is a file does not take the search away."""
    (tmp_path / "file").write_text("")
    assert await urls(opened(folder, tmp_path / "file" / "docs.sqlite"), "bamboo") == ["/guide/notes.txt"]


async def test_the_event_loop_does_not_wait(opened: Open, folder: Path, monkeypatch: pytest.MonkeyPatch):
    """Files and database are read in another thread, and concurrent searches work."""
    threads: set[int] = set()
    real = docs_index.read_page
    monkeypatch.setattr(
        docs_index, "read_page", lambda path, text: (threads.add(threading.get_ident()), real(path, text))[1]
    )
    search = opened(folder)
    answers = await asyncio.gather(*(urls(search, "bamboo") for _ in range(8)))
    assert answers == [["/guide/notes.txt"]] * 8
    assert threads
    assert threading.get_ident() not in threads


def test_a_query_is_words_only():
    """Every word is quoted, and question words are dropped unless there are no others."""
    assert match_expressions("What is the SSE contract?") == [
        '"SSE" AND "contract"',
        '"SSE" OR "contract"',
        '"contract" *',
    ]
    assert match_expressions("who am I") == ['"who" AND "am" AND "I"', '"who" OR "am" OR "I"']
    assert match_expressions("who are you")[0] == '"who" AND "are" AND "you"'
    assert match_expressions("“a phrase” run's x-chat-contract")[0] == '"a phrase" AND "run" AND "x-chat-contract"'
    assert match_expressions(" ?! ") == []


texts = st.text(max_size=60) | st.lists(
    st.sampled_from(
        ["AND", "OR", "NOT", "NEAR(", ")", '"', "'", "*", "^", ":", "title:", "-", "+", "{", "}", "\0", "_", "a", "…"]
    )
).map(" ".join)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=texts)
def test_no_text_is_read_as_query_syntax(folder: Path, text: str):
    """SQLite accepts the query for any text."""
    index = docs_index.DocsIndex({"guide": folder})
    for expression in match_expressions(text):
        assert index.find(expression, "", "9999", 1) == []
    index.close()
