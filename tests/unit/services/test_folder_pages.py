"""Pages of this server, read by the URLs that a search returns."""

from pathlib import Path

import pytest
from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.tools import WebPage
from signalbox.services.folder_pages import FolderPages

pytestmark = pytest.mark.anyio


class Web:
    async def fetch(self, url: str) -> WebPage:
        return WebPage(url, "text/plain", "the web")


@pytest.fixture
def pages(tmp_path: Path) -> FolderPages:
    """Make two folders with a secret beside them."""
    for path, text in {
        "docs/a b.md": "# A\n",
        "docs/page.html": "<p>x</p>",
        "docs/.hidden.md": "secret",
        "docs/code.py": "secret",
        "notes/n.md": "# N\n",
        "secret.md": "secret",
    }.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / "docs" / "link.md").symlink_to(tmp_path / "secret.md")
    return FolderPages({"/guide/": tmp_path / "docs", "/notes/": tmp_path / "notes"}, Web())


@pytest.mark.parametrize(
    ("url", "page"),
    [
        ("/guide/a%20b.md#a", WebPage("/guide/a%20b.md", "text/markdown", "# A\n")),
        ("/guide/page.html", WebPage("/guide/page.html", "text/html", "<p>x</p>")),
        ("/notes/n.md", WebPage("/notes/n.md", "text/markdown", "# N\n")),
        ("https://example.org/guide/a.md", WebPage("https://example.org/guide/a.md", "text/plain", "the web")),
        ("//example.org/guide/a.md", WebPage("//example.org/guide/a.md", "text/plain", "the web")),
    ],
)
async def test_a_page_of_a_folder_is_read_from_disk(pages: FolderPages, url: str, page: WebPage):
    """Other URLs are fetched from the web."""
    assert await pages.fetch(url) == page


@pytest.mark.parametrize(
    "url",
    [
        "/guide/none.md",
        "/guide/../secret.md",
        "/guide/%2e%2e/secret.md",
        "/guide/..%2fsecret.md",
        "/guide//etc/hosts.md",
        "/guide/.hidden.md",
        "/guide/code.py",
        "/guide/link.md",
        "/guide/",
        "/guide/a%00.md",
        "/etc/passwd",
        "/",
        "/api/runs",
    ],
)
async def test_only_searchable_files_are_read(pages: FolderPages, url: str):
    """Files of a known type within the folder, and no hidden ones."""
    with pytest.raises(ToolError) as raised:
        await pages.fetch(url)
    assert (raised.value.code, raised.value.message) == (Code.TOOL_FAILED, "There is no page at this address.")
