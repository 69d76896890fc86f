"""The page and the documentation, served from disk."""

import os
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import httpx
import pytest
from signalbox.app.asgi import static_files

from tests.support.running_app import RunningApp, error_of, openai_error_of, settings_for


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a built page."""
    folder = tmp_path / "page"
    folder.mkdir()
    (folder / "index.html").write_text("<!doctype html><title>Signalbox</title>")
    for name in ("guide", "docs", "operator"):
        (folder / f"{name}.html").write_text(f"<!doctype html><title>{name}</title>")
    (folder / "app.js").write_text("export {}")
    (folder / "assets").mkdir()
    (folder / "assets" / "app-1.js").write_text("export {}")
    monkeypatch.setattr(static_files, "page_folder", lambda: folder)
    return folder


def test_the_page_is_served_with_a_strict_policy(page: Path, tmp_path: Path) -> None:
    """The page's policy allows no scripts and no resources of other origins (quirk G2)."""
    with RunningApp(settings_for(tmp_path / "data")) as app:
        response = app.client.get("/")
    assert (response.status_code, response.headers["content-type"]) == (200, "text/html; charset=utf-8")
    policy = _policy(response)
    assert policy["default-src"] == "'self'"
    assert policy["img-src"] == "'self' data:"
    assert "script-src" not in policy or "unsafe" not in policy["script-src"]
    assert policy["object-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["referrer-policy"] == "no-referrer"


def test_the_policy_allows_the_pages_inline_style_and_script(page: Path, tmp_path: Path) -> None:
    """The policy has both hashes, also in a 304 and after a rebuild; other pages have the strict policy."""
    index = page / "index.html"
    first, second = (f"<!doctype html><script>{n}</script><style>p{{top:{n}px}}</style><p>{n}</p>" for n in (1, 2))
    index.write_text(first)
    with RunningApp(settings_for(tmp_path / "data")) as app:
        shown = app.client.get("/")
        again = app.client.get("/", headers={"if-none-match": shown.headers["etag"]})
        assert again.status_code == 304
        for response in (shown, again):
            assert _policy(response)["script-src"] == f"'self' {_hash('1')}"
            assert _policy(response)["style-src"] == f"'self' {_hash('p{top:1px}')}"
        index.write_text(second)
        os.utime(index, ns=(1, 1))
        assert _policy(app.client.get("/"))["script-src"] == f"'self' {_hash('2')}"
        for path in ("/operator", "/docs", "/app.js", "/api/tools", "/nothing"):
            assert not {"script-src", "style-src"} & _policy(app.client.get(path)).keys()


def _policy(response: httpx.Response) -> dict[str, str]:
    return dict(part.split(" ", 1) for part in response.headers["content-security-policy"].split("; "))


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def test_the_page_does_not_hide_the_apis_errors(page: Path, tmp_path: Path) -> None:
    """With a built page, a wrong method is a 405 and an unknown path a 404 with a code."""
    with RunningApp(settings_for(tmp_path / "data")) as app:
        wrong, nothing = app.client.get("/api/chat/stream"), app.client.get("/api/nothing")
        assert app.client.get("/app.js").text == "export {}"
        elsewhere, here = app.client.post("/v2/chat/completions", json={}), app.client.post("/app.js")
        bare = [app.client.post(path, json={}) for path in ("/v1", "/v1/", "/api/v1", "/api/v1/")]
    assert (elsewhere.status_code, error_of(elsewhere)["code"]) == (404, "NOT_FOUND")
    assert here.status_code == 405
    assert [answer.status_code for answer in bare if openai_error_of(answer)] == [404] * 4
    assert (wrong.status_code, error_of(wrong)["code"]) == (405, "METHOD_NOT_ALLOWED")
    assert (nothing.status_code, error_of(nothing)["code"]) == (404, "NOT_FOUND")


def test_without_a_page_the_address_says_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a built page, / has a sentence on how to build it, and the API works."""
    monkeypatch.setattr(static_files, "page_folder", lambda: None)
    with RunningApp(settings_for(tmp_path / "data")) as app:
        assert "./just start" in app.client.get("/").text
        assert app.client.get("/api/chat/stream").status_code == 405
        assert app.ask().done["status"] == "complete"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Make a folder of documents beside a secret."""
    folder = tmp_path / "docs"
    (folder / "more").mkdir(parents=True)
    (folder / "README.md").write_text("# Start")
    (folder / "a.md").write_text("# A")
    (folder / "b.html").write_text("<script>1</script>")
    (folder / "data.json").write_text("{}")
    (folder / ".hidden.md").write_text("hidden")
    (folder / "more" / "c_1.md").write_text("# C")
    (folder / "more" / ".git").mkdir()
    (folder / "more" / "key.pem").write_text("key")
    (tmp_path / "secret.txt").write_text("secret")
    return folder


BROWSER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


def test_documents_are_text_to_programs(docs: Path, tmp_path: Path) -> None:
    """A document is served as text whatever its suffix, so HTML in it does not run in our origin."""
    with RunningApp(settings_for(tmp_path / "data", signalbox_docs=docs)) as app:
        shown = app.client.get("/guide/a.md")
        assert (shown.text, shown.headers["content-type"]) == ("# A", "text/markdown; charset=utf-8")
        assert (shown.headers["vary"], shown.headers["cache-control"]) == ("accept, accept-encoding", "no-cache")
        assert app.client.get("/guide/b.html").headers["content-type"] == "text/plain; charset=utf-8"


@pytest.mark.parametrize("headers", [{}, BROWSER])
@pytest.mark.parametrize(
    "path",
    [
        *("../secret.txt", "%2e%2e/secret.txt", "..%2fsecret.txt", "nothing.md", "data.json", "more/key.pem"),
        *(".hidden.md", "more/.git/", "%00.md", f"{'x' * 300}.md"),
    ],
)
def test_only_documents_are_served(docs: Path, tmp_path: Path, path: str, headers: dict[str, str]) -> None:
    """Files that search does not read, hidden files and files outside the folder are a 404 for every client."""
    with RunningApp(settings_for(tmp_path / "data", signalbox_docs=docs)) as app:
        assert app.client.get(f"/guide/{path}", headers=headers).status_code == 404


@pytest.mark.parametrize("path", ["", "a.md", "b.html", "more/"])
def test_a_browser_gets_the_page_that_shows_a_document(page: Path, docs: Path, tmp_path: Path, path: str) -> None:
    """A browser that navigates gets the page that shows the document; the page then requests the text."""
    with RunningApp(settings_for(tmp_path / "data", signalbox_docs=docs)) as app:
        shown = app.client.get(f"/guide/{path}", headers=BROWSER)
        assert (shown.text, shown.headers["vary"]) == ("<!doctype html><title>guide</title>", "accept, accept-encoding")
        assert shown.headers["content-type"] == "text/html; charset=utf-8"
        assert "default-src 'self'" in shown.headers["content-security-policy"]
        assert shown.headers["etag"] != app.client.get(f"/guide/{path}").headers.get("etag")


def test_without_a_page_a_browser_is_told_how_to_read(
    docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a built page, a browser gets a sentence instead of the guide."""
    monkeypatch.setattr(static_files, "page_folder", lambda: None)
    with RunningApp(settings_for(tmp_path / "data", signalbox_docs=docs)) as app:
        assert "Accept: text/markdown" in app.client.get("/guide/a.md", headers=BROWSER).text


def test_a_folder_shows_its_start_page_or_its_list(docs: Path, tmp_path: Path) -> None:
    """/guide/ is its README.md; a folder without one lists its documents."""
    with RunningApp(settings_for(tmp_path / "data", signalbox_docs=docs)) as app:
        start = app.client.get("/guide/")
        assert (start.text, start.headers["content-type"]) == ("# Start", "text/markdown; charset=utf-8")
        listed = app.client.get("/guide/more/")
        assert listed.text == "# Documents\n\n- [c\\_1.md](<c_1.md>)\n"
        assert listed.headers["content-type"] == "text/markdown; charset=utf-8"
        for path in ("/guide", "/guide/more"):
            moved = app.client.get(path)
            assert (moved.status_code, moved.headers["location"]) == (307, f"{path}/")


def test_notes_are_served_like_the_guide(page: Path, tmp_path: Path) -> None:
    """Notes are served once there are some; a missing folder is a 404."""
    data = tmp_path / "data"
    with RunningApp(settings_for(data, signalbox_notes_dir=tmp_path / "own")) as app:
        assert app.client.get("/notes/n.md").status_code == 404
        (tmp_path / "own").mkdir(exist_ok=True)
        (tmp_path / "own" / "n.md").write_text("# N")
        assert app.client.get("/notes/n.md").text == "# N"
        assert app.client.get("/notes/n.md", headers=BROWSER).text == "<!doctype html><title>guide</title>"


def test_the_other_pages_are_served_from_the_build(page: Path, tmp_path: Path) -> None:
    """The API reference and the operator page have the same policy and load nothing from other hosts."""
    with RunningApp(settings_for(tmp_path / "data")) as app:
        assert app.client.get("/docs").text == "<!doctype html><title>docs</title>"
        operator = app.client.get("/operator")
        assert operator.text == "<!doctype html><title>operator</title>"
        assert "default-src 'self'" in operator.headers["content-security-policy"]
        for path in ("/docs", "/operator", "/guide", "/health/live", "/health/ready"):
            asked = app.client.head(path)
            assert (asked.status_code, asked.content) == (app.client.get(path).status_code, b""), path
        assert app.client.get("/redoc").status_code == 404
        assert app.client.get("/openapi.json").json()["info"]["title"] == "Signalbox"


def test_without_a_page_the_reference_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a built page, /docs names /openapi.json."""
    monkeypatch.setattr(static_files, "page_folder", lambda: None)
    with RunningApp(settings_for(tmp_path / "data")) as app:
        assert "/openapi.json" in app.client.get("/docs").text
        assert "tool_loop_v2" in app.client.get("/operator").text


def test_assets_are_cached_and_the_page_is_revalidated(page: Path, tmp_path: Path) -> None:
    """After a rebuild a browser must not use an old page that names deleted files."""
    with RunningApp(settings_for(tmp_path / "data")) as app:
        kept = {path: app.client.get(path).headers["cache-control"] for path in ("/", "/docs", "/assets/app-1.js")}
    assert kept == {"/": "no-cache", "/docs": "no-cache", "/assets/app-1.js": "public, max-age=31536000, immutable"}
