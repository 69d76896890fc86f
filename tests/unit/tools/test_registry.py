"""Rules for every built-in tool."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

import jsonschema
import pytest
from signalbox.core.images import PageView
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.tools import SavedNote, SearchHit, SearchQuery, Tool, ToolContext, WebPage
from signalbox.core.workspace import Workspace, WorkspaceFile
from signalbox.tools.registry import built_in

from tests.support.product_sources import FakeProducts

SAFE_KEYWORDS = {"type", "description", "properties", "required", "items", "enum"}


class NoSearch:
    name = "none"
    about = "an empty shelf"
    paid = False

    async def search(self, query: SearchQuery) -> list[SearchHit]:
        return []


class NoPages:
    async def fetch(self, url: str) -> WebPage:
        return WebPage(url, "text/plain", "nothing")


class NoNotes:
    async def save(self, title: str, text: str, now: datetime) -> SavedNote:
        return SavedNote("x.md", "/notes/x.md")


class NoImages:
    async def draw(
        self, context: ToolContext, prompt: str, sources: Sequence[WorkspaceFile] = (), aspect_ratio: str | None = None
    ) -> bytes:
        return b""


class NoCamera:
    async def view(self, workspace: Workspace, path: str, devices: Sequence[str]) -> PageView:
        return PageView(())


TOOLS = built_in(
    NoSearch(), None, pages=NoPages(), notes=NoNotes(), products=FakeProducts(), images=NoImages(), camera=NoCamera()
)


def schemas_within(schema: JsonObject) -> Iterator[JsonObject]:
    """Yield a schema and all nested ones."""
    yield schema
    inner: list[JsonValue] = [schema.get("items")]
    if isinstance(properties := schema.get("properties"), dict):
        inner += properties.values()
    for one in inner:
        if isinstance(one, dict):
            yield from schemas_within(one)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.spec.name)
def test_c10_schemas_use_only_safe_keywords(tool: Tool):
    """Another keyword makes Gemini reject the whole request (quirk C10)."""
    for schema in schemas_within(tool.spec.parameters):
        assert set(schema) <= SAFE_KEYWORDS
        assert isinstance(schema["type"], str)
        choices = schema.get("enum", [])
        assert isinstance(choices, list)
        assert all(isinstance(choice, str) for choice in choices)
    assert tool.spec.parameters["type"] == "object"
    jsonschema.Draft202012Validator.check_schema(tool.spec.parameters)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.spec.name)
def test_c16_a_name_is_valid_for_every_provider(tool: Tool):
    """A name is a letter, then letters, digits and underscores, at most 64 (quirk C16)."""
    assert re.fullmatch(r"[a-zA-Z][a-zA-Z0-9_]{0,63}", tool.spec.name)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.spec.name)
def test_every_argument_is_described(tool: Tool):
    """The tool and each of its arguments have a description."""
    assert tool.spec.description.endswith(".")
    properties = tool.spec.parameters["properties"]
    assert isinstance(properties, dict)
    assert all(isinstance(one, dict) and one["description"] for one in properties.values())


def test_the_metadata_is_the_contracts():
    """Search is primary, utilities are hidden, and all tools but save_note and those of files are eager."""
    assert {tool.spec.name: (tool.spec.category, tool.spec.visibility, tool.spec.eager) for tool in TOOLS} == {
        "search_web": ("search", "primary", True),
        "search_products": ("search", "primary", True),
        "read_url": ("other", "secondary", True),
        "save_note": ("other", "secondary", False),
        "get_current_time": ("utility", "hidden", True),
        "calculate": ("utility", "hidden", True),
        "create_file": ("other", "secondary", False),
        "edit_file": ("other", "secondary", False),
        "read_file": ("other", "secondary", False),
        "list_files": ("other", "secondary", False),
        "retrieve_option": ("other", "secondary", False),
        "generate_images": ("other", "secondary", False),
        "edit_image": ("other", "secondary", False),
        "remove_background": ("other", "secondary", False),
        "screenshot_preview": ("other", "secondary", False),
    }
    assert [tool.spec.name for tool in TOOLS if tool.spec.search_key] == ["search_web", "search_products"]


def test_tools_of_files_are_offered_on_request_only():
    """A client that names no tools is not offered them."""
    on_request = [tool.spec.name for tool in TOOLS if tool.spec.on_request]
    of_files = ["create_file", "edit_file", "read_file", "list_files", "retrieve_option"]
    assert on_request == [*of_files, "generate_images", "edit_image", "remove_background", "screenshot_preview"]
    assert on_request == [tool.spec.name for tool in TOOLS if tool.spec.needs_workspace]


def test_without_a_backend_search_is_unavailable():
    """The tool is listed with the reason."""
    tools = built_in(None, "SEARXNG_URL is not set")
    reasons = {tool.spec.name: tool.unavailable for tool in tools if tool.unavailable}
    assert reasons == {
        "search_web": "SEARXNG_URL is not set",
        "search_products": "no product source is set up",
        "read_url": "no page reader is set up",
        "save_note": "there is no notes folder",
        "generate_images": "no image model is set",
        "edit_image": "no image model is set",
        "remove_background": "no image model is set",
        "screenshot_preview": "there is no browser",
    }
    assert all(tool.unavailable is None for tool in TOOLS)
