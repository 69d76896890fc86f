"""What docs/product-search.md shows works: the file that maps an API, and a source of a package."""

import json
import tomllib
from pathlib import Path

from signalbox.services.products.json_api import read_mapping

from tests.project.docs.pages import page
from tests.support.packages import installed
from tests.support.processes import command, serving
from tests.support.stream_reader import parse_stream

PAGE = page("product-search.md")
GROUP = "signalbox.product_sources"


def test_the_file_that_is_shown_is_valid(tmp_path: Path) -> None:
    """Each of its fields is known."""
    [shown] = [block for block in PAGE.blocks("toml") if "price_factor" in block]
    file = tmp_path / "acme.toml"
    file.write_text(shown)
    assert read_mapping(file).fields.price == "price.cents"


def test_the_source_that_is_shown_is_searched(tmp_path: Path) -> None:
    """The table holds what the package found, and doctor asks it."""
    [code] = PAGE.blocks("python")
    [project] = [tomllib.loads(block) for block in PAGE.blocks("toml") if GROUP in block]
    entries = project["project"]["entry-points"][GROUP]
    env = {**installed(tmp_path, "signalbox-books", code, {GROUP: entries}), "PRODUCT_SOURCE": "Books"}
    with serving(tmp_path, env=env) as server, server.client() as client:
        body = {"model": "openai/sim", "prompt": "I want to buy Dracula"}
        heard = parse_stream(client.post("/api/chat/stream", json=body).content)
    [told] = heard.of("tool_result")
    assert told["artifact"]["data"] == [
        {"name": "Dracula", "url": "https://books.example/Dracula", "price": 9.5, "currency": "EUR"}
    ]
    report = json.loads(command("doctor", "--json", cwd=tmp_path, env=env).stdout)
    found = {one["about"]: one["found"] for one in report["checks"]}
    assert found["products"] == "books answers; it searches a small book shop. It has nothing for “mug”."
