"""Decides the next turn of a conversation about a page: draw images, write it, read it, change it, or answer."""

import re
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from ..http.incoming import NOTE, Incoming, text_of
from ..json_values import as_object, as_objects
from ..model.plan import Exchange, exchanges
from ..model.programs import asks_for_program
from ..model.tool_results import tidy
from ..model.turns import Call, Turn
from .changes import CHANGE, Change, change_of
from .history import done, failed, files_in, image_paths, undone
from .looks import look_for
from .options import compared, compares, option_in, page_in, taken_over
from .page import page_of
from .wishes import HTML_PATH, Wish, asks_for_page, wish_of

_ABOUT_A_PAGE = re.compile(
    r"\b(?:page|heading|headline|title|footer|header|background|button|dark mode|light mode|layout|section)\b",
    re.IGNORECASE,
)
_IMAGES = re.compile(r"\b(?:images?|photos?|pictures?|illustrations?)\b", re.IGNORECASE)
_MOST_EDITS = 2
SIMULATED = "I am a simulated model, so it comes from a template."
BLIND = "I am a simulated model and cannot see the picture, so I use a typical layout. "
NEXT = "Try a follow-up, such as *make the heading blue*, *add a footer* or *dark mode*."


@dataclass(frozen=True, slots=True)
class _Step:
    """What the turn is decided from: the request, the calls of this loop, and the known files."""

    incoming: Incoming
    made: list[Exchange]
    files: dict[str, str]

    def offers(self, name: str) -> bool:
        return self.incoming.may_call and any(tool.name == name for tool in self.incoming.tools)


def page_turn(incoming: Incoming) -> Turn | None:
    """Return the next turn of a request that is about a page, None for every other request."""
    if not any(tool.name == "create_file" for tool in incoming.tools) or not _is_free(incoming):
        return None
    step = _Step(incoming, exchanges(incoming), files_in(incoming))
    has_picture = _has_picture(incoming)
    written = {str(as_object(one.arguments).get("path")) for one in done(step.made, "create_file")}
    before = [path for path in step.files if path not in written]
    note = NOTE.match(_asked(incoming))
    if asks_for_page(incoming.question, has_picture=has_picture, has_page=bool(before or note)):
        return _build(step, wish_of(incoming.question, has_picture=has_picture))
    if option_in(incoming.question) is not None and step.files and _offered(incoming, "retrieve_option"):
        return _with_option(step)
    if not CHANGE.search(incoming.question) or asks_for_program(incoming.question):
        return None
    if step.files or _ABOUT_A_PAGE.search(incoming.question):
        return _change(step)
    return None


def _is_free(incoming: Incoming) -> bool:
    """Return whether the client leaves the choice of tools to the model, or forces one of those for files."""
    return incoming.tool_choice in ("auto", "none", "required", "create_file", "edit_file")


def _offered(incoming: Incoming, name: str) -> bool:
    return any(tool.name == name for tool in incoming.tools)


def _has_picture(incoming: Incoming) -> bool:
    if incoming.question_at < 0:
        return False
    parts = as_objects(incoming.messages[incoming.question_at].get("content"))
    return any(part.get("type") == "image_url" for part in parts)


def _asked(incoming: Incoming) -> str:
    """Return the whole message that is being answered, with what the client has put in front of the question."""
    return text_of(incoming.messages[incoming.question_at]) if incoming.question_at >= 0 else ""


def _calls(text: str, reasoning: str, name: str, arguments: dict[str, Any]) -> Turn:
    return Turn(text, reasoning, (Call(name, arguments),))


# --- write ---


def _build(step: _Step, wish: Wish) -> Turn:
    if written := done(step.made, "create_file"):
        return Turn(_built(wish, written[-1]), "The file is written. I say what it contains.")
    if problems := failed(step.made, "create_file"):
        if len(problems) > 1 or not step.offers("create_file"):
            return Turn(f"I could not write the page: {tidy(str(problems[-1].result.error), 200)}", "It failed twice.")
    elif not step.offers("create_file"):
        return Turn("I could not write the page, because the tools are off. Ask me to continue.", "No tool is left.")
    if wish.wants_images and step.offers("generate_images") and not _drew(step):
        return _draw(step, wish, f"I'll draw the images for {wish.thing} first.")
    look = look_for(step.incoming.family, step.incoming.count_page(_page_key(step.incoming)))
    page = page_of(wish, look, image_paths(step.made))
    arguments: dict[str, Any] = {"path": wish.path, "content": page.html}
    if wish.path in step.files or problems:
        arguments["overwrite"] = True
    preamble = f"{BLIND if wish.from_picture else ''}I'll build {wish.thing} in `{wish.path}`, in {look.style}."
    reasoning = (
        f"The user wants {wish.thing}. I write one file, {wish.path}, with its style and script, "
        f"so that it needs nothing else. It gets {page.parts}, in {look.style}."
    )
    return _calls(preamble, reasoning, "create_file", arguments)


def _page_key(incoming: Incoming) -> Hashable:
    """Return what pages are counted by, so that each further answer to a question has another look.

    Only one of the two loops streams this step. The loops are counted apart, so a run that is made again on the
    other loop gets the look of its original.
    """
    return incoming.family, incoming.question, incoming.stream


def _built(wish: Wish, written: Exchange) -> str:
    result = as_object(written.result.value)
    lines = f" ({result['lines']} lines)" if isinstance(result.get("lines"), int) else ""
    return f"`{wish.path}` is ready{lines}: {wish.thing}. {SIMULATED} {NEXT}"


def _drew(step: _Step) -> bool:
    return any(one.name == "generate_images" for one in step.made)


def _draw(step: _Step, wish: Wish, text: str) -> Turn:
    about = wish.topic or wish.name
    prompts = [f"{about}, in soft daylight, wide shot", f"{about}, a close-up of a detail, plain background"]
    reasoning = "The user asks for images. I draw all of them with one call, and use their paths in the page."
    return _calls(text, reasoning, "generate_images", {"prompts": prompts})


# --- change ---


def _change(step: _Step) -> Turn:
    named = HTML_PATH.search(_asked(step.incoming))
    path, text = next(reversed(step.files.items()), (named[1] if named else "index.html", None))
    if finished := done(step.made, "edit_file"):
        return Turn(_changed(step, finished[-1]), "The edit is applied. I say what is different now.")
    problems = failed(step.made, "edit_file")
    if len(problems) >= _MOST_EDITS:
        return Turn(f"I could not change `{path}`: {tidy(str(problems[-1].result.error), 200)}", "It failed twice.")
    has_read = any(one.name == "read_file" for one in step.made)
    if (text is None or problems) and not has_read:
        return _read(step, path)
    if text is None:
        return Turn("There is no page yet. Ask for one, such as *build a landing page for a bakery*.", "No file.")
    wants_images = bool(_IMAGES.search(step.incoming.question)) and step.offers("generate_images")
    if wants_images and not _drew(step):
        return _draw(step, wish_of(step.incoming.question, has_picture=False), "I'll draw the images first.")
    change = change_of(step.incoming.question, text, image_paths(step.made))
    return _edit(step, path, change)


def _read(step: _Step, path: str) -> Turn:
    if not step.offers("read_file"):
        return Turn(f"I do not know what is in `{path}`, and I cannot read it here.", "The file is unknown.")
    return _calls(f"Let me look at `{path}` first.", "I need the exact text of the file.", "read_file", {"path": path})


def _edit(step: _Step, path: str, change: Change | None) -> Turn:
    if change is None:
        return Turn(f"`{path}` is like that already, so I changed nothing.", "There is nothing to change.")
    if not step.offers("edit_file"):
        return Turn(f"I cannot change `{path}` here: edit_file is not available.", "I cannot edit.")
    edits = [{"old_text": old, "new_text": new} for old, new in change.edits]
    arguments: dict[str, Any] = {"path": path, **(edits[0] if len(edits) == 1 else {"edits": edits})}
    reasoning = f'The user says: "{tidy(step.incoming.question, 160)}". I replace the exact text in {path}.'
    return _calls(f"I'll change that in `{path}`.", reasoning, "edit_file", arguments)


def _changed(step: _Step, finished: Exchange) -> str:
    result = as_object(finished.result.value)
    path = str(as_object(finished.arguments).get("path", "the page"))
    line = result.get("first_changed_line")
    where = f" (from line {line})" if isinstance(line, int) else ""
    before = undone(step.files.get(path, ""), as_object(finished.arguments))
    change = change_of(step.incoming.question, before, image_paths(step.made))
    words = change.words if change and option_in(step.incoming.question) is None else "Done"
    return f"{words}: I changed `{path}`{where}. What should be different next?"


# --- other options ---


def _with_option(step: _Step) -> Turn:
    number = option_in(step.incoming.question) or 1
    path, text = next(reversed(step.files.items()))
    if done(step.made, "edit_file") or len(failed(step.made, "edit_file")) >= _MOST_EDITS:
        return _change(step)
    if problems := failed(step.made, "retrieve_option"):
        return Turn(f"I could not read option {number}: {tidy(str(problems[-1].result.error), 200)}", "It failed.")
    read = done(step.made, "retrieve_option")
    if not read:
        if not step.offers("retrieve_option"):
            return Turn(f"I cannot read option {number} here.", "The tools are off.")
        reasoning = f"The user mentions option {number}. I read its files."
        return _calls(f"Let me read option {number}.", reasoning, "retrieve_option", {"option_number": number})
    other = page_in(as_object(read[-1].result.value))
    if not other:
        return Turn(f"Option {number} has no page.", "There is nothing to compare.")
    if compares(step.incoming.question):
        return Turn(f"{compared(text, other, number)}\n\nTell me which parts to take over.", "I compare both pages.")
    return _edit(step, path, taken_over(step.incoming.question, other, text, number))
