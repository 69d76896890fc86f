"""docs/api.md lists every endpoint and parameter, and its examples are valid."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from signalbox.app.config import Settings
from signalbox.app.main import create_app
from signalbox.app.openapi.examples import RESPONSES
from signalbox.intakes.v1_schema import ChatRequest

from tests.project.docs.pages import ROOT, codes_in, page, pages, rows

PAGE = page("api.md")


@pytest.fixture(scope="module")
def openapi(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the app's OpenAPI document."""
    return create_app(Settings(signalbox_data_dir=tmp_path_factory.mktemp("data"))).openapi()


def test_every_endpoint_is_in_the_table(openapi: dict[str, Any]) -> None:
    """The table lists exactly the app's endpoints."""
    served = {f"{method.upper()} {path}" for path, methods in openapi["paths"].items() for method in methods}
    listed = {code for cells in rows(PAGE.section("The HTTP API")) for code in codes_in(cells[0])}
    assert listed == served


def test_every_parameter_is_in_the_table() -> None:
    """The table lists exactly the fields of ChatRequest."""
    listed = {code for cells in rows(PAGE.section("Parameters of a question")) for code in codes_in(cells[0])}
    assert listed == {field.alias or name for name, field in ChatRequest.model_fields.items()}


@pytest.mark.parametrize("name", ["api.md", "sse-contract.md"])
def test_every_json_example_is_json(name: str) -> None:
    """JSON examples parse, and questions fit the schema."""
    questions = 0
    for block in page(name).blocks("json"):
        value = json.loads(block)
        if "model" in value and "run_id" not in value:
            ChatRequest.model_validate(value)
            questions += 1
    assert questions or name != "api.md"


def test_the_openapi_examples_are_those_of_the_page() -> None:
    """Pages and OpenAPI show the same response; the page shortens the trace, and the flag has no example."""
    shown = [json.loads(block) for one in (PAGE, page("variants.md")) for block in one.blocks("json")]
    examples = {name: example for name, example in RESPONSES.items() if name not in {"RunTrace", "FeatureFlag"}}
    assert [name for name, example in examples.items() if example not in shown] == []
    assert examples


def test_every_curl_asks_a_valid_question() -> None:
    """The body of each question in a curl command, on any page and in README.md, fits the schema."""
    texts = [one.text for one in pages()] + [Path(ROOT / "README.md").read_text(encoding="utf-8")]
    bodies = [body for text in texts for body in re.findall(r"/api/chat/stream\b[^`]*?-d '([^']+)'", text)]
    assert bodies
    for body in bodies:
        ChatRequest.model_validate(json.loads(body))
