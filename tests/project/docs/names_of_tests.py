"""The names of tests in a file: functions of Python files, titles of vitest and Playwright files."""

import ast
import re
from functools import cache

from tests.project.docs.pages import ROOT

# it("…"), test("…"), it.concurrent("…"), and the title after it.each(…).
_PLAIN = re.compile(r"""^\s*(?:it|test)(?:\.(?:concurrent|only))*\(\s*(["'`])(.+?)\1,""", re.MULTILINE)
_EACH = re.compile(r"""\)\(\s*(["'`])(.+?)\1,""")
# The first value of a case, which replaces "%s" in a title.
_CASE = re.compile(r"""^\s*\[\s*"([^"]+)",""", re.MULTILINE)


@cache
def titles_in(path: str) -> frozenset[str]:
    """Return the names of a file's tests, including those in Python classes."""
    text = (ROOT / path).read_text(encoding="utf-8")
    if path.endswith(".py"):
        functions = [
            node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ]
        return frozenset(function.name for function in functions if function.name.startswith("test_"))
    titles = [title for _, title in _PLAIN.findall(text)]
    if ".each" in text:
        titles += [title for _, title in _EACH.findall(text)]
        titles += _CASE.findall(text)
    return frozenset(titles)
