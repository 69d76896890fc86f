"""The notes folder on a real disk: a note stays inside it and never replaces a file."""

import asyncio
import os
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.tools import SavedNote, SearchQuery
from signalbox.services.notes import NotesFolder, file_stem
from signalbox.services.search.docs import DocsSearch
from signalbox.services.search.pages import read_page

pytestmark = pytest.mark.anyio

NOW = datetime(2025, 3, 10, 12, 30, tzinfo=UTC)


def names(folder: Path) -> list[str]:
    """Return the names in a folder, including hidden files."""
    return sorted(path.name for path in folder.iterdir())


async def test_a_note_is_a_markdown_file(tmp_path: Path):
    """A note has its date, title and text; its name comes from the title."""
    folder = tmp_path / "made" / "notes"
    saved = await NotesFolder(folder).save("Red pandas: where?", "They live in the *east*.\n\n- Nepal\n", NOW)
    assert saved == SavedNote("red-pandas-where.md", "/notes/red-pandas-where.md")
    text = (folder / saved.file).read_text(encoding="utf-8")
    assert text == (
        "---\ndate: 2025-03-10T12:30:00+00:00\n---\n\n# Red pandas: where?\n\nThey live in the *east*.\n\n- Nepal\n"
    )
    assert read_page(saved.file, text).title == "Red pandas: where?"
    assert names(folder) == [saved.file]
    assert [stat.S_IMODE(path.stat().st_mode) for path in (folder, folder / saved.file)] == [0o700, 0o600]


async def test_a_note_never_replaces_another(tmp_path: Path):
    """An equal title gets a number, also for concurrent notes and for a dangling link."""
    (tmp_path / "plan.md").symlink_to(tmp_path / "nothing")
    notes = NotesFolder(tmp_path)
    saved = await asyncio.gather(*(notes.save("Plan", f"text {n}", NOW) for n in range(6)))
    assert sorted(one.file for one in saved) == [
        "plan-2.md",
        "plan-3.md",
        "plan-4.md",
        "plan-5.md",
        "plan-6.md",
        "plan-7.md",
    ]
    texts = {(tmp_path / one.file).read_text().split("\n")[-2] for one in saved}
    assert texts == {f"text {n}" for n in range(6)}
    assert (tmp_path / "plan.md").is_symlink()
    assert not (tmp_path / "nothing").exists()


async def test_without_hard_links_a_note_replaces_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Some file systems have no hard links."""

    def no_links(*_: Any, **__: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    notes = NotesFolder(tmp_path)
    saved = [await notes.save("Plan", text, NOW) for text in ("one", "two")]
    assert [one.file for one in saved] == ["plan.md", "plan-2.md"]
    assert "one" in (tmp_path / "plan.md").read_text()
    assert names(tmp_path) == ["plan-2.md", "plan.md"]


@pytest.mark.parametrize(
    ("title", "stem"),
    [
        ("../../etc/passwd", "etc-passwd"),
        ("/abs/olute", "abs-olute"),
        ("C:\\Windows", "c-windows"),
        (".hidden", "hidden"),
        ("...", "note"),
        ("", "note"),
        ("nul", "note-nul"),
        ("COM1", "note-com1"),
        ("Größe & Maß", "größe-maß"),
        ("東京の天気", "東京の天気"),
        ("हिन्दी नोट", "हिन्दी-नोट"),
        ("ﬁne", "fine"),
        ("a\x00b\nc", "a-b-c"),
        ("👩‍👩‍👧", "note"),
        ("x" * 500, "x" * 120),
        ("ü" * 500, "ü" * 60),
    ],
)
def test_a_title_becomes_a_file_name(title: str, stem: str):
    """Letters and digits of any script stay, other characters become hyphens, and Windows devices are avoided."""
    assert file_stem(title) == stem


@given(st.text(max_size=200))
def test_no_title_leaves_the_folder(title: str):
    """The name of any title is one path component, not hidden, and short enough."""
    name = f"{file_stem(title)}.md"
    assert Path(name).parts == (name,)
    assert not name.startswith((".", "-"))
    assert not set(name) & set('/\\:*?"<>|\0\n')
    assert len(name.encode()) <= 200


async def test_limits_are_errors(tmp_path: Path):
    """A note has a maximum size and the folder a maximum number; a rejected note leaves no file."""
    with pytest.raises(ToolError, match="256 kB"):
        await NotesFolder(tmp_path).save("Long", "x" * 300_000, NOW)
    notes = NotesFolder(tmp_path, most=1)
    await notes.save("One", "x", NOW)
    with pytest.raises(ToolError) as raised:
        await notes.save("Two", "x", NOW)
    assert raised.value.code is Code.TOOL_FAILED
    assert "full (1 notes)" in raised.value.message
    assert names(tmp_path) == ["one.md"]


async def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path):
    """The error has no path, and no file is left."""
    (tmp_path / "file").write_text("")
    with pytest.raises(ToolError) as raised:
        await NotesFolder(tmp_path / "file" / "notes").save("One", "x", NOW)
    assert raised.value.code is Code.TOOL_FAILED
    assert str(tmp_path) not in raised.value.message


async def test_a_note_is_found_by_the_next_search(tmp_path: Path):
    """A new note is found at once, with its URL in the app."""
    docs, folder = tmp_path / "docs", tmp_path / "notes"
    docs.mkdir()
    (docs / "bamboo.md").write_text("# Bamboo\n\nA grass.\n")
    search = DocsSearch(docs, notes=folder, rescan_after=3600)
    assert await search.search(SearchQuery("zebrafish")) == []
    assert search.about.endswith("(1 page)")
    notes = NotesFolder(folder, on_saved=search.changed)
    saved = await notes.save("Zebrafish", "They regrow their fins, unlike bamboo.", NOW)
    hits = await search.search(SearchQuery("zebrafish fins"))
    assert [(hit.title, hit.url) for hit in hits] == [("Zebrafish", f"{saved.url}#zebrafish")]
    assert {hit.url.partition("#")[0] for hit in await search.search(SearchQuery("bamboo"))} == {
        "/guide/bamboo.md",
        "/notes/zebrafish.md",
    }
    assert search.about.endswith("(1 page) and the saved notes (1)")
    search.close()


async def test_notes_inside_the_documents_are_found_once(tmp_path: Path):
    """A notes folder inside the searched folder is indexed with it."""
    search = DocsSearch(tmp_path, notes=tmp_path / "notes")
    await NotesFolder(tmp_path / "notes", on_saved=search.changed).save("Zebrafish", "x", NOW)
    assert [hit.url for hit in await search.search(SearchQuery("zebrafish"))] == ["/guide/notes/zebrafish.md#zebrafish"]
    search.close()
