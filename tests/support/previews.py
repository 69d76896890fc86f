"""A tool whose string arguments are previewed while the model writes them."""

from dataclasses import replace

from signalbox.core.tools import Tool

from tests.support.fakes import make_tool

PREVIEWED = ("/path", "/content", "/old_text", "/new_text", "/edits/*/old_text", "/edits/*/new_text")


def writer(name: str = "write_file") -> Tool:
    """Make a tool that writes nothing."""
    tool = make_tool(name, lambda arguments, context: {"path": "written"})
    return replace(tool, spec=replace(tool.spec, previewed=PREVIEWED))
