"""Images of tables in the whole app: signed in the artifact, loaded through this server, also after a restart."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.support.running_app import RunningApp, error_of, settings_for
from tests.support.stream_reader import check_stream

PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)
MAPPING = """
about = "a shop"
url = "http://127.0.0.1:{port}/search?q={{query}}"
currency = "EUR"
[fields]
title = "name"
url = "link"
price = "price"
image = "picture"
"""


@contextmanager
def shop() -> Iterator[tuple[int, list[str]]]:
    """Serve a product search and its image on loopback; yields the port and the requested paths."""
    asked: list[str] = []

    class Shop(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            picture = f"http://127.0.0.1:{self.server.server_port}/mug.png"  # type: ignore[attr-defined]
            found = {"name": "Red mug", "link": "https://shop.example/mug", "price": 3, "picture": picture}
            body = PNG if self.path == "/mug.png" else json.dumps([found]).encode()
            self.send_response(200)
            self.send_header("content-type", "image/png" if body is PNG else "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
            """Write no log."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Shop)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port, asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def settings_of(folder: Path, port: int, **more: Any) -> Any:
    """Return the settings of an app whose product source is the shop."""
    mapping = folder / "shop.toml"
    mapping.write_text(MAPPING.format(port=port))
    return settings_for(folder / "data", product_json=mapping, signalbox_fetch_allow=["127.0.0.0/8"], **more)


def test_a_page_loads_images_without_a_token_from_this_server_only(tmp_path: Path) -> None:
    """The artifact names no other server; the same address works after a restart, and resumed bytes are the same."""
    with shop() as (port, asked):
        settings = settings_of(tmp_path, port)
        with RunningApp(settings) as app:
            heard = app.ask("find me a red mug to buy")
            run = f"/api/runs/{heard.events[0]['run_id']}/events"
            [result] = heard.of("tool_result")
            [row] = result["artifact"]["data"]
            address = row["image"]
            assert address.startswith("/api/images/")
            image = app.client.get(address)
            again = app.client.get(address, headers={"if-none-match": image.headers["etag"]})
            first = app.client.get(run).content
        with RunningApp(settings) as app:
            later = app.client.get(address)
            assert app.client.get(run).content == first
            assert check_stream(first).of("tool_result") == heard.of("tool_result")
    assert (image.status_code, image.headers["content-type"], image.content) == (200, "image/png", PNG)
    assert image.headers["cache-control"] == "private, max-age=86400"
    assert image.headers["x-content-type-options"] == "nosniff"
    assert (again.status_code, again.content) == (304, b"")
    assert later.content == PNG
    assert asked.count("/mug.png") == 2  # once per process


def test_an_address_that_no_tool_result_has_is_not_fetched(tmp_path: Path) -> None:
    """The server is no open proxy: a changed address is a 404, and so is an image that its source no longer has."""
    with shop() as (port, asked):
        with RunningApp(settings_of(tmp_path, port, signalbox_require_token=True, signalbox_access_token="s")) as app:
            assert app.client.get("/api/runs", headers={"authorization": ""}).status_code == 401
            for signed in ("x", "AAAA.aHR0cDovLzEyNy4wLjAuMS8", "..%2Fruns"):
                refused = app.client.get(f"/api/images/{signed}", headers={"authorization": ""})
                assert (refused.status_code, error_of(refused)["code"]) == (404, "NOT_FOUND"), signed
        assert asked == []


@pytest.mark.parametrize("tokens", [True, False])
def test_an_image_whose_source_is_gone_is_a_404(tmp_path: Path, tokens: bool) -> None:
    """The signature is the authorisation: the browser sends no token with an image."""
    with shop() as (port, _):
        settings = settings_of(tmp_path, port)
        with RunningApp(settings) as app:
            [result] = app.ask("find me a red mug to buy").of("tool_result")
    address = result["artifact"]["data"][0]["image"]
    more: dict[str, Any] = {"signalbox_require_token": True, "signalbox_access_token": "s"} if tokens else {}
    with RunningApp(settings_of(tmp_path, port, **more)) as app:
        gone = app.client.get(address, headers={"authorization": ""} if tokens else {})
    assert (gone.status_code, error_of(gone)["code"]) == (404, "NOT_FOUND")
    assert "cannot be loaded" in error_of(gone)["message"]
