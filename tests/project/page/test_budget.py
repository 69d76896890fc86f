"""The size of the built page: what a browser loads first, what later, and from where."""

import gzip
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from scripts import page

FIRST_SCRIPT_BYTES = 165_000
FIRST_DOCUMENT_BYTES = 18_000
_IMPORTED = re.compile(r"""(?:\bfrom|\bimport)\s*["']\./([\w.-]+\.js)["']""")
_FETCHED = re.compile(r"""url\(\s*["']?([^"')]+)|@import\s+["']([^"']+)""")
# Strings that occur only in the code of this library or part of the page.
_LATER = {
    "markdown": "thematicBreak",
    "math": "KaTeX parse error",
    "the highlighter": "injectionSelector",
    "a language of the highlighter": "beginCaptures",
    "the inspector": "Filter events",
    "the dialogs": "Keyboard shortcuts",
    "the search of models": "Starred",
}
_OWN_CHUNKS = (
    "Markdown",
    "katex",
    "highlight.worker",
    "python",
    "RunInspectorDrawer",
    "ChatDialogs",
    "PictureDialog",
    "Rows",
    "LineList",
    "ModelPopup",
    "TipPopup",
    "DataTableView",
    "MenuParts",
    "AccessDialog",
    "VariablesDialog",
)


class Document(HTMLParser):
    """The files that a page references, and its inline content."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.name = path.name
        self.scripts: list[str] = []
        self.others: list[str] = []
        self.inline: list[str] = []
        self._within = ""
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self._within = tag
        is_script = tag == "script" or named.get("rel") == "modulepreload"
        address = named.get("src") or named.get("href")
        if address and (is_script or tag == "link"):
            (self.scripts if is_script else self.others).append(address)
        self.inline += [f"{tag} {name}" for name in named if name == "style" or name.startswith("on")]

    def handle_data(self, data: str) -> None:
        if self._within in ("script", "style") and data.strip():
            self.inline.append(f"<{self._within}>{data.strip()[:80]}")

    def handle_endtag(self, tag: str) -> None:
        self._within = ""


@pytest.fixture(scope="module")
def dist() -> Path:
    """Return the folder of the page built from these sources."""
    return page.here().build()


@pytest.fixture(params=["index.html", "guide.html", "docs.html", "operator.html"])
def document(request: pytest.FixtureRequest, dist: Path) -> Document:
    """Return each of the built pages."""
    return Document(dist / request.param)


def path_of(address: str) -> str:
    """Return the path of a file in the build. Addresses are relative, because the page can have any path prefix."""
    return address.removeprefix(".").removeprefix("/")


def first_scripts(dist: Path, name: str = "index.html") -> dict[str, Path]:
    """Return all scripts that run before the page shows anything, including transitive imports."""
    waiting = [path_of(address).removeprefix("assets/") for address in Document(dist / name).scripts]
    found: dict[str, Path] = {}
    while waiting:
        script = waiting.pop()
        if script not in found:
            bundled = dist / "assets" / script
            found[script] = bundled if bundled.is_file() else dist / script
            waiting += _IMPORTED.findall(found[script].read_text(encoding="utf-8"))
    return found


def compressed(path: Path) -> int:
    """Return the number of bytes of a file over the wire."""
    return len(gzip.compress(path.read_bytes(), 9))


def built(dist: Path, *endings: str) -> Iterator[Path]:
    """Return the built files with these suffixes."""
    return (path for path in sorted(dist.rglob("*")) if path.suffix in endings)


def test_the_first_script_is_within_its_budget(dist: Path) -> None:
    """The first scripts of the chat have at most 165 kB compressed."""
    sizes = {name: compressed(path) for name, path in first_scripts(dist).items()}
    total = sum(sizes.values())
    listed = ", ".join(f"{name} {size:,}" for name, size in sorted(sizes.items(), key=lambda each: -each[1]))
    assert total <= FIRST_SCRIPT_BYTES, f"{total:,} bytes of {FIRST_SCRIPT_BYTES:,}: {listed}"


@pytest.mark.parametrize("what", _LATER)
def test_what_is_needed_later_is_loaded_later(dist: Path, what: str) -> None:
    """It is in a separate file that no first script imports."""
    having = {path.name for path in built(dist, ".js") if _LATER[what] in path.read_text(encoding="utf-8")}
    assert having
    assert not having & first_scripts(dist).keys()


@pytest.mark.parametrize("chunk", _OWN_CHUNKS)
def test_a_part_that_is_loaded_by_name_has_its_own_file(dist: Path, chunk: str) -> None:
    """The bundler has not merged it into another file."""
    files = {path.name for path in dist.glob(f"assets/{chunk}-*.js")}
    assert files
    assert not files & first_scripts(dist).keys()


def test_the_chat_page_alone_has_one_inline_script_and_one_style(document: Document, dist: Path) -> None:
    """Both fit into the first packets of a slow connection, and the style sheet is not fetched twice."""
    assert document.scripts
    if document.name != "index.html":
        assert document.inline == []
        return
    assert [text[1:].split(">")[0] for text in document.inline] == ["script", "style"]
    assert len(gzip.compress((dist / "index.html").read_bytes())) < FIRST_DOCUMENT_BYTES
    page = (dist / "index.html").read_text(encoding="utf-8")
    # Chromium 150's preload scanner fetches a disabled link unless its media does not match.
    sheets = re.findall(r'<link rel="stylesheet"([^>]*)>', page)
    assert sheets
    assert all(sheet.startswith(' disabled media="not all" ') for sheet in sheets)


def test_a_page_names_only_files_of_ours(dist: Path, document: Document) -> None:
    """Scripts, styles and icons are files of this server, and exist."""
    for address in document.scripts + document.others:
        assert re.match(r"\.?/(?!/)", address), address
        assert (dist / path_of(address)).is_file(), address


def test_styles_load_nothing_from_elsewhere(dist: Path) -> None:
    """Fonts and images of the styles are files of the build, or inline."""
    styles = list(built(dist, ".css"))
    assert styles
    for path in styles:
        for match in _FETCHED.finditer(path.read_text(encoding="utf-8")):
            address = match[1] or match[2]
            assert re.match(r"/assets/|\./|#|data:image/", address), f"{path.name}: {address}"


def test_scripts_import_nothing_from_elsewhere(dist: Path) -> None:
    """No module, worker or request of the build names another host."""
    called = r"\bimport\s*\(?|\bfrom|\bfetch\(|new (?:Worker|URL|EventSource|WebSocket)\("
    elsewhere = re.compile(rf"""(?:{called})\s*["'`](?:https?:|wss?:)?//""")
    for path in built(dist, ".js"):
        found = elsewhere.search(path.read_text(encoding="utf-8"))
        assert found is None, f"{path.name}: {found[0]}"
