"""The tool that saves a note as a Markdown file, which later searches find."""

from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.tools import NoteStore, Tool, ToolContext, ToolSpec
from signalbox.tools.untrusted_text import visible_line, visible_text

LONGEST_TITLE, LONGEST_TEXT = 120, 50_000

_PARAMETERS: JsonObject = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "description": "What the note is about, in a few words."},
        "text": {"type": "string", "description": "The note, in Markdown, without the title."},
    },
    "required": ["title", "text"],
}


def save_note(notes: NoteStore | None, unavailable: str | None = None, *, found_by_search: bool = False) -> Tool:
    """Return the tool; without `notes` it is unavailable, with the reason `unavailable`.

    It is not eager, because it has a side effect: a call runs only after its step has succeeded.
    """
    later = " search_web finds it later." if found_by_search else ""
    spec = ToolSpec(
        name="save_note",
        title="Save a note",
        summary="Saves a note to your notes folder when you ask for it.",
        description=f"Save a note to the user's notes folder, when the user asks to keep something.{later}",
        parameters=_PARAMETERS,
        category="other",
        visibility="secondary",
        eager=False,
        timeout=10.0,
        untrusted=False,
    )

    async def run(arguments: JsonObject, context: ToolContext) -> JsonValue:
        if notes is None:
            raise ToolError(Code.TOOL_UNAVAILABLE, "Notes cannot be saved here.")
        title, text = _checked(arguments)
        saved = await notes.save(title, text, context.now())
        return {"saved": True, "title": title, "file": saved.file, "url": saved.url}

    return Tool(spec, run, unavailable or (None if notes else "there is no notes folder"))


def _checked(arguments: JsonObject) -> tuple[str, str]:
    given = str(arguments["text"])
    if len(given) > LONGEST_TEXT:
        raise ToolError(Code.INVALID_ARGUMENTS, f"text: must not be longer than {LONGEST_TEXT:,} characters")
    title, text = visible_line(str(arguments["title"]), LONGEST_TITLE), visible_text(given)
    for name, value in (("title", title), ("text", text.strip())):
        if not value:
            raise ToolError(Code.INVALID_ARGUMENTS, f"{name}: must not be empty")
    return title, text
