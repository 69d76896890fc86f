"""The page and the documentation, served from disk beside the API."""

from pathlib import Path

import pytest
from signalbox.app import files

from tests.support.serving import RunningApp, error_of, settings_for


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in for the built page."""
    folder = tmp_path / "page"
    folder.mkdir()
    (folder / "index.html").write_text("<!doctype html><title>Signalbox</title>")
    (folder / "app.js").write_text("export {}")
    monkeypatch.setattr(files, "page_folder", lambda: folder)
    return folder


def test_the_page_is_served_with_a_strict_policy(page: Path, tmp_path: Path) -> None:
    """The page comes with a policy under which no answer can load or run anything from elsewhere (quirk G2)."""
    with RunningApp(settings_for(tmp_path / "data")) as app:
        response = app.client.get("/")
    assert (response.status_code, response.headers["content-type"]) == (200, "text/html; charset=utf-8")
    policy = dict(part.split(" ", 1) for part in response.headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'self'"
    assert policy["img-src"] == "'self' data:"
    assert "script-src" not in policy or "unsafe" not in policy["script-src"]
    assert policy["object-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["referrer-policy"] == "no-referrer"


def test_a_wrong_method_is_told_apart_where_the_page_is_built(page: Path, tmp_path: Path) -> None:
    """The page at / does not answer for the API: 405 stays 405, and nothing there is a 404 with a code."""
    with RunningApp(settings_for(tmp_path / "data")) as app:
        wrong, nothing = app.client.get("/api/chat/stream"), app.client.get("/api/nothing")
        assert app.client.get("/app.js").text == "export {}"
    assert (wrong.status_code, error_of(wrong)["code"]) == (405, "METHOD_NOT_ALLOWED")
    assert (nothing.status_code, error_of(nothing)["code"]) == (404, "NOT_FOUND")


def test_without_a_page_the_address_says_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever starts from source reads one sentence; the API works all the same."""
    monkeypatch.setattr(files, "page_folder", lambda: None)
    with RunningApp(settings_for(tmp_path / "data")) as app:
        assert "./just start" in app.client.get("/").text
        assert app.client.get("/api/chat/stream").status_code == 405
        assert app.ask().done["status"] == "complete"


def test_documents_are_shown_as_text(tmp_path: Path) -> None:
    """The guide is text whatever it is called: a page among the documents does not run in our origin."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# A")
    (docs / "b.html").write_text("<script>1</script>")
    (tmp_path / "secret.txt").write_text("secret")
    with RunningApp(settings_for(tmp_path / "data", signalbox_docs=docs)) as app:
        assert app.client.get("/guide/a.md").headers["content-type"] == "text/markdown; charset=utf-8"
        assert app.client.get("/guide/b.html").headers["content-type"] == "text/plain; charset=utf-8"
        for path in ("/guide/../secret.txt", "/guide/%2e%2e/secret.txt", "/guide/..%2fsecret.txt"):
            assert app.client.get(path).status_code == 404
