"""Applies exact replacements to a text: all of them, or none with the error that a model can correct."""

from collections.abc import Sequence

from msgspec import Struct

from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.messages import JsonObject

# As large as a file may be. A replacement of every match could otherwise multiply a text before it is stored.
LARGEST_TEXT = 1024 * 1024
MOST_EDITS = 200
EVERY_MATCH = -1
_SHOWN = 60


class Edit(Struct, frozen=True):
    """Replace `old_text`, which must occur exactly `count` times. With EVERY_MATCH, any number from 1 is fine.

    `field` is where the edit is in the arguments, empty for an edit that is the arguments themselves.
    """

    old_text: str
    new_text: str
    count: int = 1
    field: str = ""

    def error(self, name: str, fault: str) -> ToolError:
        """Return the error for one of the edit's fields."""
        return ToolError(Code.INVALID_ARGUMENTS, f"{self.field}{name}: {fault}")


def edits_of(arguments: JsonObject) -> list[Edit]:
    """Return the edits of a call that fits the schema: the list `edits`, or a single one given without a list."""
    listed = arguments.get("edits")
    single = [name for name in ("old_text", "new_text", "count") if name in arguments]
    if isinstance(listed, list):
        if single:
            raise _invalid(f"{single[0]}: send either edits, or old_text and new_text")
        if not 0 < len(listed) <= MOST_EDITS:
            raise _invalid(f"edits: expected 1 to {MOST_EDITS} edits, got {len(listed)}")
        return [_edit_of(one, f"edits[{place}].") for place, one in enumerate(listed) if isinstance(one, dict)]
    for name in ("old_text", "new_text"):
        if name not in arguments:
            raise _invalid(f"{name}: is required (string), unless you send edits")
    return [_edit_of(arguments, "")]


def _edit_of(given: JsonObject, field: str) -> Edit:
    count = given.get("count", 1)
    whole = int(count) if isinstance(count, int | float) else 0
    edit = Edit(str(given["old_text"]), str(given["new_text"]), whole, field)
    if not edit.old_text:
        raise edit.error("old_text", "must not be empty; to write a whole file, use create_file")
    if edit.old_text == edit.new_text:
        raise edit.error("new_text", "is the same as old_text, so the edit would change nothing")
    if whole < 1 and whole != EVERY_MATCH:
        raise edit.error("count", f"expected a number from 1, or {EVERY_MATCH} for every match")
    return edit


def _invalid(fault: str) -> ToolError:
    return ToolError(Code.INVALID_ARGUMENTS, fault)


def edited(text: str, edits: Sequence[Edit]) -> str:
    """Apply the edits in order, each to the result of those before it. Raises ToolError if one of them fails."""
    uses_crlf = 0 < text.count("\n") == text.count("\r\n")
    result = text
    for edit in edits:
        result = _replaced(result, _with_crlf(edit) if uses_crlf else edit)
    if result == text:
        raise _invalid("edits: together they change nothing")
    return result


def _with_crlf(edit: Edit) -> Edit:
    """Return the edit with the line breaks of the file: models write line feeds only, whatever they have read."""
    old, new = (one.replace("\r\n", "\n").replace("\n", "\r\n") for one in (edit.old_text, edit.new_text))
    return Edit(old, new, edit.count, edit.field)


def _replaced(text: str, edit: Edit) -> str:
    found = text.count(edit.old_text)
    if not found:
        raise edit.error("old_text", _not_found(text, edit.old_text))
    if edit.count not in (found, EVERY_MATCH):
        raise edit.error("old_text", _wrong_count(found, edit.count))
    if edit.count == 1 and text.find(edit.old_text, text.find(edit.old_text) + 1) >= 0:
        raise edit.error("old_text", "occurs in places that overlap; add text around it, so that it is unique")
    if len(text) + found * (len(edit.new_text) - len(edit.old_text)) > LARGEST_TEXT:
        raise edit.error("new_text", "the file would become larger than 1 MB")
    return text.replace(edit.old_text, edit.new_text)


def _wrong_count(found: int, wanted: int) -> str:
    times = "once" if found == 1 else f"{found:,} times"
    if wanted > 1:
        return f"occurs {times}, but count is {wanted:,}"
    return f"occurs {times}, so it is not unique. Add text around it, or set count to {found} to replace all of them"


def _not_found(text: str, wanted: str) -> str:
    """Return the fault; if a part of the text occurs, say in which line, so that the model can look there."""
    words = "does not occur in the file. It must match exactly, with all spaces and line breaks"
    line = max(wanted.splitlines(), key=len, default="").strip()
    at = text.find(line) if line else -1
    if at < 0:
        return f"{words}; read the file again"
    shown = f"{line[:_SHOWN]}…" if len(line) > _SHOWN else line
    return f"{words}. Line {text.count(chr(10), 0, at) + 1} of the file contains {shown!r}"
