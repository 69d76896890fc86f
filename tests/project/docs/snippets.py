"""Runs code blocks of a page as modules, and applies its diffs."""

import re
from types import ModuleType

from tests.project.docs.pages import ROOT, Page


def module(name: str, code: str, package: str = "") -> ModuleType:
    """Run code as a module with this name."""
    made = ModuleType(name)
    made.__package__ = package
    exec(compile(code, name, "exec"), made.__dict__)
    return made


def block(one: Page, beginning: str) -> str:
    """Return the page's Python block that begins with these words."""
    return next(code for code in one.blocks("python") if code.startswith(f'"""{beginning}'))


def patched(diff: str) -> tuple[str, str]:
    """Apply a diff, unless the file already has its lines; return path and new text."""
    path, *changes = diff.removeprefix("--- ").splitlines()
    text = (ROOT / path).read_text(encoding="utf-8")
    for hunk in re.findall(r"((?:^-.*\n)+)((?:^\+.*\n)*)", "\n".join(changes) + "\n", re.MULTILINE):
        old, new = (re.sub(r"^[-+]", "", part, flags=re.MULTILINE) for part in hunk)
        assert text.count(old) == 1 or new in text, f"{path}: {old}"
        text = text if new in text else text.replace(old, new)
    return path, text
