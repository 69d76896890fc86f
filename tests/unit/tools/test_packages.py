"""Tools of plugins: loaded from entry points, checked, and never an obstacle to the start."""

import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import Distribution, EntryPoint
from pathlib import Path
from typing import Any

import pytest
from signalbox import tool as made_of
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.tools import Tool, ToolContext, ToolSpec
from signalbox.services.tool_executor import ToolExecutor
from signalbox.tools import plugins, registry
from signalbox.tools.lint import safe_name
from signalbox.tools.registry import built_in, from_packages

from tests.support.memory_workspace import MemoryWorkspace

pytestmark = pytest.mark.anyio

EMPTY: JsonObject = {"type": "object", "properties": {}}


async def answer(arguments: JsonObject, context: ToolContext) -> JsonValue:
    """Return a fixed result."""
    return "here"


def tool(name: str = "dice", parameters: JsonObject = EMPTY, **given: Any) -> Tool:
    """Return a tool as a plugin would."""
    return Tool(ToolSpec(name, "Rolls a die.", parameters, **given), answer)


@made_of
def roll(sides: int = 6) -> int:
    """Roll a die."""
    return sides


class Entry:
    """An entry point with a scripted load."""

    dist = None

    def __init__(self, name: str, load: Callable[[], object]) -> None:
        self.name, self.value, self.load = name, f"acme_{name}:tools", load


def loaded(*entries: Entry, taken: tuple[str, ...] = ()) -> list[Tool]:
    """Load scripted entry points."""
    return from_packages(taken, entries)  # type: ignore[arg-type]


def reason(*entries: Entry, taken: tuple[str, ...] = ()) -> str:
    """Return why the last tool is unavailable."""
    why = loaded(*entries, taken=taken)[-1].unavailable
    assert why is not None
    return why


async def test_an_entry_point_may_be_a_tool_itself():
    """What `@tool` makes needs no function around it; its function runs with its own types."""
    tools = loaded(Entry("one", lambda: roll), Entry("two", lambda: [tool("coin")]))
    assert [(one.spec.name, one.unavailable) for one in tools] == [("roll", None), ("coin", None)]
    assert (await ToolExecutor(tools).run("roll", {"sides": 4}, ToolContext())).result == 4


async def test_a_plugin_has_one_tool_or_several():
    """They run like built-in tools."""
    tools = loaded(
        Entry("one", lambda: lambda: tool("dice")), Entry("two", lambda: lambda: [tool("coin"), tool("card")])
    )
    assert [(one.spec.name, one.unavailable) for one in tools] == [("dice", None), ("coin", None), ("card", None)]
    executor = ToolExecutor([*built_in(None, None), *tools])
    assert (await executor.run("coin", {}, ToolContext())).result == "here"


async def test_a_plugin_does_not_get_the_files_of_a_conversation():
    """They belong to the server's event loop; the rest of the context is that of the run."""
    seen: list[ToolContext] = []

    async def look(arguments: JsonObject, context: ToolContext) -> JsonValue:
        seen.append(context)
        return "seen"

    tools = loaded(Entry("one", lambda: Tool(ToolSpec("look", "Looks.", EMPTY, on_request=True), look)))
    assert tools[0].spec.on_request
    context = ToolContext(run_id="r1", workspace=MemoryWorkspace())
    await ToolExecutor(tools).run("look", {}, context)
    assert (seen[0].workspace, seen[0].run_id, seen[0].sources) == (None, "r1", context.sources)
    assert context.workspace is not None


def fails(error: BaseException) -> Callable[[], object]:
    """Return a function that raises."""

    def raising() -> object:
        raise error

    return raising


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (Entry("x", fails(ModuleNotFoundError("No module named 'acme'"))), "No module named 'acme'"),
        (Entry("x", fails(RuntimeError("key s3cret"))), "it could not be loaded (RuntimeError)"),
        (Entry("x", lambda: fails(KeyError("s3cret"))), "it could not be loaded (KeyError)"),
        (Entry("x", lambda: fails(SystemExit(3))), "it could not be loaded (SystemExit)"),
        (Entry("x", lambda: "no callable"), "it could not be loaded (TypeError)"),
        (Entry("x", lambda: lambda: None), "it did not return a Tool or a list of Tools"),
        (Entry("x", lambda: list), "it did not return a Tool or a list of Tools"),
        (Entry("x", lambda: lambda: [tool(), "dice"]), "it did not return a Tool or a list of Tools"),
        (Entry("x", lambda: lambda: tool("no-dots.please")), "its name 'no-dots.please' is not a letter followed by"),
        (Entry("x", lambda: lambda: tool(needs_workspace=True)), "it sets needs_workspace, but only built-in tools"),
        (Entry("x", lambda: lambda: tool(on_request="yes")), "its on_request is neither True nor False"),
        (Entry("x", lambda: lambda: tool(parameters={"type": "string"})), "are not an object with properties"),
        (Entry("x", lambda: lambda: tool(parameters={"type": 5})), "are not a valid JSON Schema"),
        (
            Entry("x", lambda: lambda: tool(parameters={**EMPTY, "additionalProperties": False})),
            "uses additionalProperties",
        ),
        (
            Entry(
                "x", lambda: lambda: tool(parameters={**EMPTY, "properties": {"n": {"type": "integer", "minimum": 1}}})
            ),
            "parameters.n uses minimum, which some providers reject",
        ),
        (
            Entry(
                "x", lambda: lambda: tool(parameters={**EMPTY, "properties": {"n": {"type": "integer", "enum": [1]}}})
            ),
            "parameters.n may only enumerate strings",
        ),
        (
            Entry("x", lambda: lambda: tool(parameters={**EMPTY, "properties": {"n": {"type": ["integer", "null"]}}})),
            "parameters.n needs one type",
        ),
        (Entry("x", lambda: lambda: tool(timeout=0)), "its timeout is not a positive number"),
        (Entry("x", lambda: lambda: Tool(ToolSpec("dice", " ", EMPTY), answer)), "it has no description"),
    ],
)
async def test_a_broken_plugin_becomes_an_unavailable_tool(entry: Entry, words: str):
    """The reason names entry and package, without the text of the exception; other tools are not affected."""
    tools = loaded(entry, Entry("z", lambda: lambda: tool("coin")))
    assert [one.spec.name for one in tools] == ["x", "coin"]
    assert tools[1].unavailable is None
    assert tools[0].unavailable is not None
    assert tools[0].unavailable.startswith("acme_x: ")
    assert words in tools[0].unavailable
    assert "s3cret" not in tools[0].unavailable
    executor = ToolExecutor(tools)
    assert executor.spec("x") is None
    assert (await executor.run("x", {}, ToolContext())).success is False


def test_a_name_is_used_once():
    """A tool whose name is taken is listed as unavailable with the reason."""
    taken = tuple(one.spec.name for one in built_in(None, None))
    assert reason(Entry("calculate", lambda: lambda: tool("calculate")), taken=taken) == (
        'acme_calculate: it is named "calculate", and there is a tool of that name already'
    )
    tools = loaded(
        Entry("calculate", lambda: lambda: tool("calculate")),
        Entry("a", lambda: lambda: [tool("dice"), tool("dice")]),
        Entry("b", lambda: lambda: tool("dice")),
        taken=taken,
    )
    assert {one.spec.name: one.unavailable is None for one in tools} == {
        "dice": True,
        "a": False,
        "b": False,
        "calculate_2": False,
    }
    ToolExecutor([*built_in(None, None), *tools])


def test_a_broken_plugin_is_logged(capsys: pytest.CaptureFixture[str]):
    """The log has the entry, the package and the line that failed."""
    from structlog.testing import capture_logs

    with capture_logs() as lines:
        reason(Entry("x", fails(RuntimeError("s3cret"))))
    assert lines[0].pop("raised_at").startswith(f"{__file__}:")
    assert lines == [
        {
            "event": "tool.not_loaded",
            "log_level": "warning",
            "entry": "x",
            "package": "acme_x",
            "reason": "it could not be loaded (RuntimeError)",
        }
    ]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("acme_missing.tools:make", "there is no module acme_missing"),
        ("signalbox.no_such_module:make", "there is no module signalbox.no_such_module"),
        ("signalbox.tools.registry:no_such_name", "signalbox.tools.registry has no no_such_name"),
    ],
)
def test_an_entry_point_that_does_not_exist_is_named(value: str, words: str) -> None:
    """No line of code failed, so the log names none."""
    from structlog.testing import capture_logs

    with capture_logs() as lines:
        [missing] = from_packages((), found=[EntryPoint("dice", value, "signalbox.tools")])
    reason = f"its entry point dice = {value} does not exist: {words}"
    assert missing.unavailable is not None
    assert missing.unavailable.endswith(reason)
    assert (lines[0]["event"], lines[0]["entry"], lines[0]["reason"]) == ("tool.not_loaded", "dice", reason)
    assert "raised_at" not in lines[0]


def test_a_module_that_cannot_import_another_one_is_located(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The entry point exists; the line of the plugin that failed is named."""
    from structlog.testing import capture_logs

    (tmp_path / "acme_imports.py").write_text("import acme_missing\n")
    (tmp_path / "acme_attributes.py").write_text("import os\nos.no_such_name\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name, kind in (("acme_imports", "ModuleNotFoundError"), ("acme_attributes", "AttributeError")):
        with capture_logs() as lines:
            from_packages((), found=[EntryPoint("dice", f"{name}:make", "signalbox.tools")])
        assert lines[0]["reason"].startswith(f"it could not be loaded ({kind}")
        assert f"{name}.py:" in lines[0]["raised_at"]


def test_installed_entry_points_are_found(monkeypatch: pytest.MonkeyPatch):
    """The group is signalbox.tools, and a real entry point is loaded."""
    monkeypatch.setattr(registry, "a_tool_of_a_test", lambda: tool("dice"), raising=False)
    entry = EntryPoint("dice", "signalbox.tools.registry:a_tool_of_a_test", "signalbox.tools")
    asked: list[str] = []
    monkeypatch.setattr(plugins, "entry_points_of", lambda group: (asked.append(group), [entry])[1])
    assert [one.spec.name for one in from_packages(())] == ["dice"]
    assert asked == ["signalbox.tools"]


PACKAGE = """
from signalbox.core.tools import Tool, ToolSpec

async def roll(arguments, context):
    return 4

def tools():
    return [Tool(ToolSpec("roll_die", "Rolls a die.", {"type": "object", "properties": {}}), roll)]

def broken():
    raise RuntimeError("broken on purpose")
"""


def test_an_installed_package_is_found(tmp_path: Path):
    """A folder on the path with an installer's metadata is enough, in a separate process."""
    (tmp_path / "acme_dice.py").write_text(PACKAGE)
    meta = tmp_path / "acme_dice-1.0.dist-info"
    meta.mkdir()
    (meta / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-dice\nVersion: 1.0\n")
    (meta / "entry_points.txt").write_text("[signalbox.tools]\ndice = acme_dice:tools\nbad = acme_dice:broken\n")
    assert Distribution.at(meta).metadata["Name"] == "acme-dice"
    script = (
        "from signalbox.tools.registry import from_packages\n"
        "for tool in from_packages(['calculate']): print(tool.spec.name, '|', tool.unavailable)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": f"{tmp_path}:{Path(registry.__file__).parents[2]}"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    lines = [line for line in done.stdout.splitlines() if " | " in line]
    assert lines == ["bad | acme-dice: it could not be loaded (RuntimeError)", "roll_die | None"]


@pytest.mark.parametrize(
    ("text", "name"),
    [("dice", "dice"), ("my-tool.x", "my_tool_x"), ("1st", "tool_1st"), ("", "tool_"), ("x" * 90, "x" * 64)],
)
def test_any_text_gives_a_name(text: str, name: str):
    """Entry points may have names that no tool may have."""
    assert safe_name(text) == name
