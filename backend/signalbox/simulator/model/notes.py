"""Finds the note that a message asks to save, and makes the call that saves it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..http.incoming import Incoming, is_named
from .tool_results import tidy
from .turns import Call
from .values import Values

_POLITE = r"(?:(?:please|also|then|now|can you|could you|would you|will you)[\s,]+)*"
_NOTE = (
    r"(?:save|take|make|add|keep|create|store|write down|jot down)(?: (?:this|that|it) as)?(?: me)?"
    r"(?: an?| another| the| this| my)?"
    r"(?: (?:new|quick|short|little|following))? note\b"
)
# A colon distinguishes a note from a question about notes: "search for a and save a note: b".
_AFTER_COLON = re.compile(
    rf"(?:^|[.!?;\n]|[\s,](?:and|then)\s)\s{{0,20}}{_POLITE}{_NOTE}(?P<about>|[^:\n.?!]{{1,100}}?(?=:\s)):(?P<text>.*)",
    re.IGNORECASE | re.DOTALL,
)
# Without a colon, only at the beginning of the message: "Take a note that the bins go out on Tuesday".
_IN_WORDS = re.compile(rf"^\s*{_POLITE}{_NOTE}(?P<about>)(?P<text>.*)", re.IGNORECASE | re.DOTALL)
_LEAD = re.compile(
    r"^(?:[\s,–—-]|(?:that says|which says|saying|that|to|about|on|of|for me|down|called|titled|named)\b)+",
    re.IGNORECASE,
)
_REFERS_BACK = re.compile(r"^(?:this|that|it|them|these|those|please|the above|for me|\W)*$", re.IGNORECASE)
_QUOTES = "\"'“”‘’"
_LONGEST_TITLE = 60


@dataclass(frozen=True, slots=True)
class Note:
    """A note to save; `text` is empty if the message does not say what to write."""

    title: str
    text: str


def split_note(question: str) -> tuple[str, Note | None]:
    """Split a message into its question and the note to save, whose text is not part of the question."""
    found = _AFTER_COLON.search(question) or _IN_WORDS.match(question)
    if found is None:
        return question, None
    text = found["text"] if found.re is _AFTER_COLON else _LEAD.sub("", found["text"])
    text = "" if _REFERS_BACK.match(text) else text.strip().strip(_QUOTES)
    title = _LEAD.sub("", found["about"]).strip(f" {_QUOTES}") or text.partition("\n")[0].rstrip(" .")
    return question[: found.start()], Note(tidy(title[:1].upper() + title[1:], _LONGEST_TITLE), text)


def save_call(incoming: Incoming, note: Note) -> Call | None:
    """Return a call of the offered tool that saves notes, or None."""
    tool = next((tool for tool in incoming.tools if saves_notes(tool.name)), None)
    if tool is None:
        return None
    arguments: dict[str, Any] = Values(note.text, tool.schema).fields(tool.schema)
    if title := tool.property_like("title", "name", "subject"):
        arguments[title] = note.title
    return Call(tool.name, {**arguments, tool.main_property("text", "content", "body", "note"): note.text})


def saves_notes(name: str) -> bool:
    """Return whether a tool saves notes, judged by its name (`save_note`, not `list_notes`)."""
    return is_named(name, "note") and is_named(name, "save", "create", "add", "write", "take", "make", "keep", "store")


def unsaved(incoming: Incoming, called: Sequence[str]) -> str:
    """Return why the requested note is not saved, or "" if none is requested or the tool was called."""
    note = split_note(incoming.question)[1]
    if note is None or any(map(saves_notes, called)):
        return ""
    if not note.text:
        return "What should the note say? Write it after a colon, for example: *Save a note: buy milk*."
    return f"I could not save the note “{note.title}”: this request offers no tool that saves notes."
