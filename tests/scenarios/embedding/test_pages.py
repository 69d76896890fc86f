"""The pages under a prefix, and the setting that allows them in frames."""

from pathlib import Path

import pytest
from signalbox.app.asgi import static_files
from signalbox.app.config import SettingsError

from tests.support.running_app import RunningApp, settings_for

HTML = {"accept": "text/html"}


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Make a built page; return the page of documents."""
    folder = tmp_path / "page"
    folder.mkdir()
    text = '<!doctype html><script src="/theme.js"></script><link href="/assets/a.css"><a href="#x">x</a>'
    (folder / "guide.html").write_text(text)
    for name in ("index", "docs", "operator"):
        (folder / f"{name}.html").write_text('<script src="./assets/a.js"></script>')
    monkeypatch.setattr(static_files, "page_folder", lambda: folder)
    return text


@pytest.mark.parametrize("path", ["/guide/", "/guide/clients/openai.md", "/notes/"])
def test_the_page_of_documents_names_the_prefix(page: str, tmp_path: Path, path: str) -> None:
    """Scripts and styles of a document at any depth have the prefix; at the root the page is the built one."""
    with RunningApp(settings_for(tmp_path / "root")) as app:
        assert app.client.get(path, headers=HTML).text == page
    with RunningApp(settings_for(tmp_path / "data", signalbox_root_path="/chat")) as app:
        response = app.client.get(path, headers=HTML)
        assert response.text == page.replace('="/', '="/chat/')
        assert (response.headers["cache-control"], response.headers["vary"]) == ("no-cache", "accept, accept-encoding")
        assert app.client.head(path, headers=HTML).status_code == 200
        assert app.client.get("/").headers["link"].startswith("</chat/api/models?")


@pytest.mark.parametrize(
    ("setting", "ancestors"),
    [
        ("", "'none'"),
        ("self", "'self'"),
        (
            "self, https://app.example.org,https://*.example.com:8443",
            "'self' https://app.example.org https://*.example.com:8443",
        ),
    ],
)
def test_frames_of_listed_origins_are_allowed(tmp_path: Path, page: str, setting: str, ancestors: str) -> None:
    """Every response has the origins in `frame-ancestors`, and none has X-Frame-Options, which cannot list origins."""
    with RunningApp(settings_for(tmp_path / "data", signalbox_frame_ancestors=setting)) as app:
        for path in ("/", "/docs", "/guide/", "/api/models", "/api/nope"):
            headers = app.client.get(path, headers=HTML).headers
            assert f"; frame-ancestors {ancestors}; " in headers["content-security-policy"]
            assert "x-frame-options" not in headers


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("signalbox_frame_ancestors", value) for value in ("*", "'self'", "app.example.org", "https://a.example/x")),
        *(("signalbox_frame_ancestors", value) for value in ("https://a;b", "https://a.example\r\nx: y", "https:")),
        *(
            ("signalbox_root_path", value)
            for value in ("chat", "/chat?x", "/a//b", "/api", "/team/docs", "/ä", "/..;x")
        ),
    ],
)
def test_other_values_are_rejected(tmp_path: Path, name: str, value: str) -> None:
    """A value that would allow too much, or that no path begins with, is an error at the start."""
    with pytest.raises(SettingsError, match=name.upper()):
        settings_for(tmp_path, **{name: value})
