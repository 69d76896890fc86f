"""docs/architecture.md matches the code: main names exist where it says, and the map has every folder."""

from importlib import import_module

from tests.project.docs.pages import ROOT, page, rows

PAGE = page("architecture.md")
MAIN = list(rows(PAGE.section("Main names and their files")))
NAMES = [cells for cells in MAIN if cells[1].startswith("`signalbox.")]
FILES = [cells for cells in MAIN if not cells[1].startswith("`signalbox.")]


def test_every_main_name_can_be_imported() -> None:
    """Each Python row of the table is an object with that name."""
    wanted = {
        "ConversationContext",
        "prepare_request_params",
        "parse_completion_response",
        "execute_tool_calls",
        "finalize_after_tools",
        "should_retry",
    }
    assert wanted <= {name.strip("`") for name, *_ in NAMES}
    for name, where, _ in NAMES:
        module, _, attribute = where.strip("`").rpartition(".")
        assert attribute == name.strip("`")
        assert callable(getattr(import_module(module), attribute))


def test_every_file_of_a_main_name_is_as_the_table_says() -> None:
    """A file is marked as existing or planned correctly."""
    wanted = {"ResponsePanel", "ReasoningBlock", "SearchResultsInline", "ToolChips", "RunInspectorDrawer"}
    assert wanted <= {name.strip("`") for name, *_ in FILES}
    for _, path, there in FILES:
        assert (ROOT / path.strip("`")).is_file() is there.startswith("yes"), f"{path}: {there}"


def test_the_code_map_has_every_folder() -> None:
    """The map has exactly the folders of the package and of the page."""
    listed = {cells[0].strip("`") for cells in rows(PAGE.section("Code map: which file does what"))}
    assert [name for name in sorted(listed) if not (ROOT / name).exists()] == []
    package = {f"backend/signalbox/{path.parent.name}/" for path in ROOT.glob("backend/signalbox/*/__init__.py")}
    source = {
        f"frontend/src/{path.name}/"
        for path in ROOT.glob("frontend/src/*")
        if path.is_dir() and path.name not in ("fixtures", "styles")
    }
    assert package | source <= listed


def test_every_file_on_a_requests_way_exists() -> None:
    """The path of a request names modules of the package."""
    line = PAGE.section("One request, step by step")
    named = [word.strip("`,;.()→") for word in line.split() if ".py" in word]
    assert len(named) > 12
    assert [name for name in named if not (ROOT / "backend/signalbox" / name).is_file()] == []
