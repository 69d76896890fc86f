"""Compressed responses: files of the build, documents and large JSON, but no streams."""

import gzip
import json
from pathlib import Path

import pytest
from signalbox.app.asgi import static_files
from signalbox.app.asgi.compression import accepted

from tests.support.running_app import RunningApp, settings_for

SCRIPT = "export const words = 'signal';" * 200


@pytest.mark.parametrize(
    ("header", "chosen"),
    [
        ("br, gzip", "br"),
        ("gzip, deflate, br, zstd", "br"),
        ("gzip", "gzip"),
        ("BR;q=0.5, GZIP;q=0.8", "gzip"),
        ("br;q=0, gzip", "gzip"),
        ("br;q=0, gzip;q=0.0", None),
        ("*", "br"),
        ("br;q=0, *;q=0.1", "gzip"),
        ("*;q=0", None),
        ("identity", None),
        ("deflate", None),
        ("gzip;q=nonsense", None),
        ("", None),
    ],
)
def test_the_preferred_encoding_is_chosen(header: str, chosen: str | None) -> None:
    """Weights decide, then the server's order; a weight of 0 excludes an encoding."""
    scope = {"type": "http", "headers": [(b"accept-encoding", header.encode())]}
    assert accepted(scope, ["br", "gzip"]) == chosen


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a built page with compressed copies."""
    folder = tmp_path / "page"
    (folder / "assets").mkdir(parents=True)
    for name in ("index.html", "docs.html", "guide.html", "assets/app-1.js"):
        (folder / name).write_text(SCRIPT)
        (folder / f"{name}.gz").write_bytes(gzip.compress(f"{SCRIPT}{name}".encode()))
        (folder / f"{name}.br").write_bytes(f"brotli of {name}".encode())
    (folder / "assets" / "font-1.woff2").write_bytes(b"wOF2" * 1000)
    monkeypatch.setattr(static_files, "page_folder", lambda: folder)
    return folder


@pytest.mark.parametrize(
    ("path", "headers", "file", "kind"),
    [
        ("/", {}, "index.html", "text/html; charset=utf-8"),
        ("/docs", {}, "docs.html", "text/html; charset=utf-8"),
        ("/guide/", {"accept": "text/html"}, "guide.html", "text/html; charset=utf-8"),
        ("/assets/app-1.js", {}, "assets/app-1.js", "text/javascript; charset=utf-8"),
    ],
)
def test_a_built_file_is_sent_in_an_accepted_encoding(
    page: Path, tmp_path: Path, *, path: str, headers: dict[str, str], file: str, kind: str
) -> None:
    """Brotli is preferred to gzip; type and caching do not change, and each encoding has a different ETag."""
    tags: set[str] = set()
    with RunningApp(settings_for(tmp_path / "data")) as app:
        for encoding, suffix in (("br", ".br"), ("gzip", ".gz"), ("identity", "")):
            asked = {**headers, "accept-encoding": encoding}
            with app.client.stream("GET", path, headers=asked) as answer:
                raw = b"".join(answer.iter_raw())
            assert raw == (page / f"{file}{suffix}").read_bytes()
            assert answer.headers.get("content-encoding", "identity") == encoding
            assert answer.headers["content-type"] == kind
            assert "accept-encoding" in answer.headers["vary"]
            assert answer.headers["content-length"] == str(len(raw))
            head = app.client.head(path, headers=asked)
            assert (head.status_code, head.headers["etag"]) == (200, answer.headers["etag"])
            again = app.client.get(path, headers={**asked, "if-none-match": answer.headers["etag"]})
            assert (again.status_code, again.content) == (304, b"")
            assert "accept-encoding" in again.headers["vary"]
            tags.add(answer.headers["etag"])
    assert len(tags) == 3


def test_a_range_counts_encoded_bytes(page: Path, tmp_path: Path) -> None:
    """A range counts the bytes of the sent encoding; an ETag of another encoding gets the whole file (RFC 9110)."""
    with RunningApp(settings_for(tmp_path / "data")) as app:
        plain = app.client.get("/assets/app-1.js", headers={"accept-encoding": "identity"})
        asked = {"accept-encoding": "br", "range": "bytes=0-5"}
        with app.client.stream("GET", "/assets/app-1.js", headers=asked) as part:
            raw = b"".join(part.iter_raw())
        assert (part.status_code, raw, part.headers["content-encoding"]) == (206, b"brotli", "br")
        conditional = {**asked, "if-range": plain.headers["etag"]}
        with app.client.stream("GET", "/assets/app-1.js", headers=conditional) as whole:
            assert (whole.status_code, b"".join(whole.iter_raw())) == (200, b"brotli of assets/app-1.js")


def test_compressed_copies_are_not_served_directly(page: Path, tmp_path: Path) -> None:
    """A path that ends in .br or .gz is a 404; a file without copies is sent uncompressed."""
    with RunningApp(settings_for(tmp_path / "data")) as app:
        for path in ("/assets/app-1.js.br", "/assets/app-1.js.gz", "/index.html.br"):
            assert app.client.get(path).status_code == 404
        font = app.client.get("/assets/font-1.woff2", headers={"accept-encoding": "br, gzip"})
        assert (font.headers["content-type"], "content-encoding" in font.headers) == ("font/woff2", False)


def test_large_responses_are_compressed_if_accepted(tmp_path: Path) -> None:
    """JSON and documents name their encoding; a client that excludes gzip gets the same content uncompressed."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "long.md").write_text("# Words\n" * 500)
    with RunningApp(settings_for(tmp_path / "data", signalbox_docs=docs)) as app:
        for path in ("/openapi.json", "/api/tools", "/api/models", "/api/contract/v1.1.json", "/guide/long.md"):
            small = app.client.get(path, headers={"accept-encoding": "gzip"})
            assert small.headers["content-encoding"] == "gzip", path
            large = app.client.get(path, headers={"accept-encoding": "gzip;q=0, identity"})
            assert "content-encoding" not in large.headers, path
            assert small.content == large.content, path
            for answer in (small, large):
                assert "accept-encoding" in answer.headers["vary"].lower(), path
            assert int(small.headers["content-length"]) < len(large.content) / 2, path
            assert small.headers.get("etag") == large.headers.get("etag"), path
            assert not small.headers.get("etag", "W/").startswith('"'), path
        assert "content-encoding" not in app.client.get("/health/live").headers


def test_a_stream_is_never_compressed(tmp_path: Path) -> None:
    """Streams of questions and replays have the same bytes with and without gzip."""
    with RunningApp(settings_for(tmp_path / "data")) as app:
        run = app.ask("Tell me about streams. " * 200)
        asked = {"accept-encoding": "gzip, br"}
        body = {"model": "openai/sim", "prompt": "What is a journal? " * 200}
        with app.client.stream("POST", "/api/chat/stream", json=body, headers=asked) as answer:
            assert "content-encoding" not in answer.headers
            assert b"data: " in b"".join(answer.iter_raw())
        raws: list[bytes] = []
        for encoding in ("gzip", "identity"):
            path = f"/api/runs/{run.ids[0].partition(':')[0]}/events"
            with app.client.stream("GET", path, headers={"accept-encoding": encoding}) as answer:
                assert "content-encoding" not in answer.headers
                assert answer.headers["content-type"].startswith("text/event-stream")
                raws.append(b"".join(answer.iter_raw()))
        assert raws[0] == raws[1]
        assert len(raws[0]) > 1024


def test_the_list_of_models_is_sent_again_only_when_it_changed(tmp_path: Path) -> None:
    """A second request gets a 304 in either encoding."""
    with RunningApp(settings_for(tmp_path / "data")) as app:
        first = app.client.get("/api/models")
        assert first.headers["cache-control"] == "private, no-cache"
        for encoding in ("gzip", "identity"):
            named = {"if-none-match": first.headers["etag"], "accept-encoding": encoding}
            again = app.client.get("/api/models", headers=named)
            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", first.headers["etag"])
        assert app.client.get("/api/models", headers={"if-none-match": '"another"'}).status_code == 200


def test_hidden_models_can_be_omitted(tmp_path: Path) -> None:
    """`hidden=false` omits models that are only requested by name."""
    with RunningApp(settings_for(tmp_path / "data")) as app:
        every, picked = app.client.get("/api/models").json(), app.client.get("/api/models?hidden=false")
        assert app.client.get("/api/models?hidden=true").json() == every
        assert app.client.get("/api/models?view=page").status_code == 422
    wanted = [one for one in every["models"] if not one["hidden"]]
    assert picked.json() == {**every, "models": wanted}
    assert 0 < len(wanted) < len(every["models"]) / 10
    assert len(json.dumps(picked.json())) < 20_000


def test_the_page_preloads_the_models_without_a_token(page: Path, tmp_path: Path) -> None:
    """The page's headers preload the list, unless a token is required."""
    with RunningApp(settings_for(tmp_path / "data")) as app:
        link = app.client.get("/").headers["link"]
        assert link == "</api/models?hidden=false>; rel=preload; as=fetch; crossorigin"
        assert app.client.get(link.partition(">")[0].removeprefix("<")).status_code == 200
        assert "link" not in app.client.get("/docs").headers
    with RunningApp(settings_for(tmp_path / "other"), token="secret") as app:
        assert "link" not in app.client.get("/").headers
