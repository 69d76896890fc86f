"""screenshot_preview with a scripted browser: what the model and people get, and pages that do not exist."""

from collections.abc import Sequence
from typing import Any

import pytest
from signalbox.core.codes import Code
from signalbox.core.images import PageView, Screenshot
from signalbox.core.tools import ToolContext, ToolOutcome
from signalbox.core.workspace import Workspace
from signalbox.services.tool_executor import ToolExecutor
from signalbox.tools.images.screenshot_preview import screenshot_preview

from tests.support.memory_workspace import MemoryWorkspace

pytestmark = pytest.mark.anyio

PNG, JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"


class ScriptedCamera:
    """Returns a PNG of a short page on a desktop, and a JPEG of a long page on a phone; records what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    async def view(self, workspace: Workspace, path: str, devices: Sequence[str]) -> PageView:
        self.asked.append((path, tuple(devices)))
        shots = {
            "desktop": Screenshot("desktop", 1280, 800, 800, PNG),
            "phone": Screenshot("phone", 390, 4000, 5000, JPEG),
        }
        return PageView(tuple(shots[one] for one in devices), ("error: x",), ("a.png: there is no such file",))


async def call(camera: ScriptedCamera, workspace: MemoryWorkspace | None, **arguments: Any) -> ToolOutcome:
    """Call the tool as a loop does."""
    executor = ToolExecutor([screenshot_preview(camera, None)])
    wrong = executor.check("screenshot_preview", arguments)
    return wrong or await executor.run("screenshot_preview", arguments, ToolContext(workspace=workspace))


async def test_both_devices_by_default() -> None:
    """The model sees the images; people get the files; the page's errors are for both."""
    workspace, camera = MemoryWorkspace({"index.html": "<p>"}), ScriptedCamera()
    outcome = await call(camera, workspace)
    assert camera.asked == [("index.html", ("desktop", "phone"))]
    reported = {"console": ["error: x"], "not_loaded": ["a.png: there is no such file"]}
    desktop = {"device": "desktop", "width": 1280, "height": 800}
    phone = {"device": "phone", "width": 390, "height": 4000, "page_height": 5000}
    paths = ["screenshots/index-desktop.png", "screenshots/index-phone.jpg"]
    assert outcome.result == {
        "page": "index.html",
        "screenshots": [desktop | {"path": paths[0]}, phone | {"path": paths[1]}],
        **reported,
    }
    assert outcome.artifact == {
        "type": "images",
        "images": [
            {"source": "index.html", **desktop, "path": paths[0], "version": 1, "size": len(PNG)},
            {"source": "index.html", **phone, "path": paths[1], "version": 1, "size": len(JPEG)},
        ],
        **reported,
    }
    assert [image.url.partition(",")[0] for image in outcome.images] == [
        "data:image/png;base64",
        "data:image/jpeg;base64",
    ]


async def test_a_later_screenshot_is_a_new_version() -> None:
    """It replaces the earlier one, so that the files do not pile up."""
    workspace = MemoryWorkspace({"pages/about.html": "<p>"})
    for version in (1, 2):
        outcome = await call(ScriptedCamera(), workspace, path="pages/about.html", device="desktop")
        assert isinstance(outcome.artifact, dict)
        (image,) = outcome.artifact["images"]  # type: ignore[misc, union-attr]
        assert image == {
            "source": "pages/about.html", "device": "desktop", "width": 1280, "height": 800,
            "path": "screenshots/pages-about-desktop.png", "version": version, "size": len(PNG),
        }  # fmt: skip


async def test_a_full_workspace_does_not_fail_the_call() -> None:
    """The model still sees the page."""
    workspace = MemoryWorkspace({"index.html": "<p>"})
    workspace.full = True
    outcome = await call(ScriptedCamera(), workspace, device="phone")
    assert outcome.success
    assert isinstance(outcome.result, dict)
    assert "The screenshot was not stored" in str(outcome.result["screenshots"])
    assert len(outcome.images) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"path": "no.html"}, "There is no file 'no.html'. The pages are: index.html."),
        ({"path": "site.css"}, "site.css is text/css, no page. The pages are: index.html."),
        ({"device": "watch"}, "device: expected one of"),
    ],
)
async def test_what_cannot_be_shown(arguments: dict[str, Any], words: str) -> None:
    """The error names what there is, and no browser is started."""
    camera = ScriptedCamera()
    outcome = await call(camera, MemoryWorkspace({"index.html": "<p>", "site.css": ""}), **arguments)
    assert outcome.code is Code.INVALID_ARGUMENTS
    assert words in outcome.error
    assert camera.asked == []


async def test_without_a_browser_it_is_not_offered() -> None:
    """The list of tools has the reason."""
    assert screenshot_preview(None, "no Chromium was found").unavailable == "no Chromium was found"
    executor = ToolExecutor([screenshot_preview(None, None)])
    outcome = await executor.run("screenshot_preview", {}, ToolContext(workspace=MemoryWorkspace()))
    assert outcome.code is Code.TOOL_UNAVAILABLE
