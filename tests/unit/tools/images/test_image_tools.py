"""The image tools over a workspace in memory: names of files, and failures of single images."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.tools import ToolContext, ToolOutcome
from signalbox.core.workspace import FileVersion, WorkspaceFile
from signalbox.services.tool_executor import ToolExecutor
from signalbox.tools.images.batch import AT_ONCE, Item, make_all
from signalbox.tools.images.edit_image import edit_image
from signalbox.tools.images.generate_images import generate_images
from signalbox.tools.images.image_files import slug
from signalbox.tools.images.remove_background import remove_background

from tests.support.memory_workspace import MemoryWorkspace

pytestmark = pytest.mark.anyio

PNG = b"\x89PNG\r\n\x1a\n and more"
JPEG = b"\xff\xd8\xff and more"


class ScriptedModel:
    """Draws PNGs, or what `drawn` holds for a prompt; records what was asked, and how many were drawn at once."""

    def __init__(self, **drawn: bytes | ToolError) -> None:
        self.drawn = drawn
        self.asked: list[tuple[str, list[str], str | None]] = []
        self.gate: asyncio.Event | None = None
        self.both_asked = asyncio.Event()
        self.open = self.most_open = self.cancelled = 0

    async def draw(
        self, context: ToolContext, prompt: str, sources: Sequence[WorkspaceFile] = (), aspect_ratio: str | None = None
    ) -> bytes:
        self.asked.append((prompt, [one.version.path for one in sources], aspect_ratio))
        if len(self.asked) == 2:
            self.both_asked.set()
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            await (self.gate.wait() if self.gate else asyncio.sleep(0))
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.open -= 1
        drawn = self.drawn.get(prompt, PNG)
        if isinstance(drawn, ToolError):
            raise drawn
        return drawn


async def call(
    model: ScriptedModel | None, name: str, workspace: MemoryWorkspace | None = None, **arguments: Any
) -> ToolOutcome:
    """Call a tool as a loop does."""
    executor = ToolExecutor([make(model, None) for make in (generate_images, edit_image, remove_background)])
    wrong = executor.check(name, arguments)
    return wrong or await executor.run(name, arguments, ToolContext(workspace=workspace))


async def test_sc_09_images_become_files() -> None:
    """Prompts are trimmed, and equal ones drawn once; each file is named after its prompt."""
    workspace, model = MemoryWorkspace(), ScriptedModel(Sea=JPEG)
    prompts = [" A red fox, in snow! ", "A red fox, in snow!", "Sea", ""]
    outcome = await call(model, "generate_images", workspace, prompts=prompts, aspect_ratio="16:9")
    assert outcome.result == {
        "images": [
            {"prompt": "A red fox, in snow!", "path": "images/a-red-fox-in-snow.png"},
            {"prompt": "Sea", "path": "images/sea.jpg"},
        ]
    }
    assert outcome.artifact == {
        "type": "images",
        "images": [
            {"prompt": "A red fox, in snow!", "path": "images/a-red-fox-in-snow.png", "version": 1, "size": len(PNG)},
            {"prompt": "Sea", "path": "images/sea.jpg", "version": 1, "size": len(JPEG)},
        ],
    }
    assert model.asked == [("A red fox, in snow!", [], "16:9"), ("Sea", [], "16:9")]
    assert [one.path for one in await workspace.files()] == ["images/a-red-fox-in-snow.png", "images/sea.jpg"]


async def test_names_are_new() -> None:
    """No earlier image is overwritten, also by prompts with the same name in one call."""
    workspace = MemoryWorkspace()
    workspace.add("images/fox.png", PNG)
    outcome = await call(ScriptedModel(), "generate_images", workspace, prompts=["Fox", "fox!", "Fox?"])
    assert isinstance(outcome.artifact, dict)
    assert [one.path for one in await workspace.files()] == [
        "images/fox-2.png", "images/fox-3.png", "images/fox-4.png", "images/fox.png",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Crème brûlée", "creme-brulee"),
        ("狐", "image"),
        ("../../etc/passwd", "etc-passwd"),
        ("one two three four five six seven eight nine", "one-two-three-four-five-six-seven-eight"),
        ("x" * 60, "x" * 40),
        ("Con", "con-image"),
        ("COM1", "com1-image"),
    ],
)
def test_a_name_is_safe_and_short(text: str, name: str) -> None:
    """It has lower-case letters, digits and hyphens, ends after a word, and stands for no device on Windows."""
    assert slug(text) == name


async def test_a_new_image_ignores_the_case_of_names() -> None:
    """A file that has the same name on Windows and macOS is not taken either."""
    workspace = MemoryWorkspace()
    workspace.add("images/Fox.PNG", PNG)
    await call(ScriptedModel(), "generate_images", workspace, prompts=["fox"])
    assert [one.path for one in await workspace.files()] == ["images/Fox.PNG", "images/fox-2.png"]


async def test_sc_09_some_images_fail() -> None:
    """The others are stored, and each failure has its reason."""
    refused = ToolError(Code.CONTENT_FILTER, "The image model refused to draw this.")
    outcome = await call(ScriptedModel(bad=refused), "generate_images", MemoryWorkspace(), prompts=["good", "bad"])
    assert outcome.success
    assert outcome.result == {
        "images": [{"prompt": "good", "path": "images/good.png"}, {"prompt": "bad", "error": refused.message}]
    }
    assert isinstance(outcome.artifact, dict)
    assert outcome.artifact["images"] == [
        {"prompt": "good", "path": "images/good.png", "version": 1, "size": len(PNG)},
        {"prompt": "bad", "error": refused.message, "code": "CONTENT_FILTER"},
    ]


@pytest.mark.parametrize(
    ("failures", "code"),
    [
        ([Code.BUDGET_REACHED, Code.BUDGET_REACHED], Code.BUDGET_REACHED),
        ([Code.RATE_LIMIT, Code.CONTENT_FILTER], Code.TOOL_FAILED),
    ],
)
async def test_sc_09_all_images_fail(failures: list[Code], code: Code) -> None:
    """The result is a failure that names the reasons; its artifact lists each image."""
    model = ScriptedModel(a=ToolError(failures[0], "First reason."), b=ToolError(failures[1], "Second reason."))
    outcome = await call(model, "generate_images", MemoryWorkspace(), prompts=["a", "b"])
    assert (outcome.success, outcome.code) == (False, code)
    assert outcome.error == "No image was made. First reason. Second reason."
    assert isinstance(outcome.artifact, dict)
    assert outcome.artifact["images"] == [
        {"prompt": "a", "error": "First reason.", "code": str(failures[0])},
        {"prompt": "b", "error": "Second reason.", "code": str(failures[1])},
    ]


async def test_an_image_that_cannot_be_stored() -> None:
    """The limit of the files, and a file type that browsers or the store do not know, are reasons like others."""
    workspace = MemoryWorkspace()
    workspace.full = True
    outcome = await call(ScriptedModel(), "generate_images", workspace, prompts=["a"])
    assert (outcome.code, "100 files" in outcome.error) == (Code.FILE_LIMIT, True)
    outcome = await call(ScriptedModel(a=b"<svg/>"), "generate_images", MemoryWorkspace(), prompts=["a"])
    assert "no PNG, JPEG, WebP or GIF" in outcome.error


async def test_few_images_are_drawn_at_once() -> None:
    """The rest waits for a place."""
    model = ScriptedModel()
    outcome = await call(model, "generate_images", MemoryWorkspace(), prompts=[f"fox {n}" for n in range(12)])
    assert outcome.success
    assert (len(model.asked), model.most_open) == (12, AT_ONCE)


async def test_a_slow_image_does_not_lose_the_others() -> None:
    """Images that are ready within the time are kept."""
    ready = FileVersion("images/a.png", 1, "image/png", 1, "model", 0.0, "run")

    async def at_once() -> FileVersion:
        return ready

    async def never() -> FileVersion:
        await asyncio.Event().wait()
        return ready

    returned = await make_all([Item({"prompt": "a"}, at_once), Item({"prompt": "b"}, never)], seconds=0.01)
    assert returned.result == {
        "images": [
            {"prompt": "a", "path": "images/a.png"},
            {"prompt": "b", "error": "The image was not ready within 0.01 s."},
        ]
    }


async def test_a_stop_ends_all_requests() -> None:
    """None goes on after the call."""
    model = ScriptedModel()
    model.gate = asyncio.Event()
    task = asyncio.create_task(call(model, "generate_images", MemoryWorkspace(), prompts=["a", "b"]))
    await model.both_asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (model.cancelled, model.open) == (2, 0)


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("generate_images", {"prompts": []}, "prompts: give at least one"),
        ("generate_images", {"prompts": ["  "]}, "prompts: give at least one"),
        ("generate_images", {"prompts": [str(n) for n in range(21)]}, "prompts: give at most 20, got 21"),
        ("generate_images", {"prompts": ["x" * 4001]}, "prompts[0]: must not be longer than 4,000"),
        ("generate_images", {"prompts": "a fox"}, "prompts: expected a list"),
        ("generate_images", {"prompts": [{"a": 1}]}, "prompts[0]: expected a string"),
        ("generate_images", {"prompts": ["a"], "aspect_ratio": "7:1"}, "aspect_ratio: expected one of"),
        ("edit_image", {"prompt": " ", "paths": ["images/fox.png"]}, "prompt: must not be empty"),
        (
            "edit_image",
            {"prompt": "blue", "paths": ["no.png"]},
            "There is no file 'no.png'. The images are: images/fox",
        ),
        ("edit_image", {"prompt": "blue", "paths": ["a.html"]}, "a.html is text/html, not an image"),
        ("edit_image", {"prompt": "blue", "paths": [str(n) for n in range(6)]}, "paths: give at most 5"),
        ("remove_background", {"paths": ["no.png"]}, "There is no file 'no.png'"),
    ],
)
async def test_arguments_that_cannot_work(name: str, arguments: dict[str, Any], words: str) -> None:
    """The error names the field and what to do, and nothing is asked of the model."""
    workspace, model = MemoryWorkspace({"a.html": "<p>"}), ScriptedModel()
    workspace.add("images/fox.png", PNG)
    outcome = await call(model, name, workspace, **arguments)
    assert outcome.code is Code.INVALID_ARGUMENTS
    assert words in outcome.error
    assert model.asked == []


async def test_sc_12_an_image_is_edited() -> None:
    """The model gets the images; the new one is another file."""
    workspace, model = MemoryWorkspace(), ScriptedModel()
    workspace.add("images/fox.png", PNG)
    outcome = await call(
        model, "edit_image", workspace, prompt="Make it blue", paths=["images/fox.png"], aspect_ratio="1:1"
    )
    assert outcome.result == {"images": [{"prompt": "Make it blue", "path": "images/make-it-blue.png"}]}
    assert model.asked == [("Make it blue", ["images/fox.png"], "1:1")]


async def test_sc_10_backgrounds_are_removed() -> None:
    """Each image has its result or error."""
    workspace, model = MemoryWorkspace(), ScriptedModel()
    workspace.add("images/fox.png", PNG)
    outcome = await call(model, "remove_background", workspace, paths=["images/fox.png", "images/owl.png"])
    assert outcome.result == {
        "images": [
            {"source": "images/fox.png", "path": "images/fox-no-background.png"},
            {"source": "images/owl.png", "error": "There is no file 'images/owl.png'. The images are: images/fox.png."},
        ]
    }
    failed = await call(model, "remove_background", workspace, paths=["images/owl.png"])
    assert not failed.success


async def test_sc_12_without_a_model_the_tools_are_not_offered() -> None:
    """The reason says which setting is missing."""
    for make in (generate_images, edit_image, remove_background):
        assert make(None, "no image model is set; set SIGNALBOX_IMAGE_MODEL").unavailable is not None
    outcome = await call(None, "generate_images", MemoryWorkspace(), prompts=["a"])
    assert outcome.code is Code.TOOL_UNAVAILABLE


async def test_outside_of_a_conversation() -> None:
    """There is no place for images."""
    outcome = await call(ScriptedModel(), "generate_images", None, prompts=["a"])
    assert outcome.code is Code.TOOL_UNAVAILABLE
