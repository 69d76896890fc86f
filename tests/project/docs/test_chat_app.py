"""docs/chat-app.md matches the page: its shortcuts, its folders, the path of an event."""

import re

from tests.project.docs.pages import ROOT, codes_in, page, rows

PAGE = page("chat-app.md")
SRC = ROOT / "frontend/src"
_SHORTCUT = re.compile(r'does: "([^"]+)", keys: (?:\[(.+?)\]|(\{.+?\}))')
_KEYS = re.compile(r'\{ key: "([^"]+)"(, mod: true)?(, shift: true)?(, alt: true)? \}')
_NAMES = {"Escape": "Esc", "ArrowUp": "↑"}


def _keys(key: str, mod: str, shift: str, alt: str) -> str:
    name = _NAMES.get(key, key.upper() if len(key) == 1 else key)
    return "+".join([*(["Mod"] if mod else []), *(["Shift"] if shift else []), *(["Alt"] if alt else []), name])


def test_the_keys_are_those_of_the_page() -> None:
    """The table lists the shortcuts of run/chat/shortcuts.ts in order."""
    text = (SRC / "logic/chat/shortcuts.ts").read_text(encoding="utf-8")
    source = [
        (" or ".join(_keys(*found) for found in _KEYS.findall(several or one)), does)
        for does, several, one in _SHORTCUT.findall(text)
    ]
    assert len(source) > 10
    assert [tuple(cells) for cells in rows(PAGE.section("Keyboard shortcuts"))] == source


def test_every_room_has_its_row() -> None:
    """Each folder of components is listed."""
    named = codes_in(PAGE.section("Code map of the page"))
    rooms = {f"frontend/src/components/{path.name}/" for path in (SRC / "components").iterdir() if path.is_dir()}
    assert rooms - named == set()


def test_every_file_on_the_way_of_an_event_exists() -> None:
    """The diagram names files of the page, below src or below components, and of the TypeScript client."""
    way = PAGE.section("From an event to the screen")
    named = re.findall(r"[\w/]+\.tsx?\b", way)
    assert len(named) > 10
    client = ROOT / "clients/typescript/src"
    places = (SRC, SRC / "components", client, client / "requests")
    assert [name for name in named if not any((place / name).is_file() for place in places)] == []
