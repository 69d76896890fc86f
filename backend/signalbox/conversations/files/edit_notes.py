"""Notes that tell the model what a person has changed in the files since the model's last turn.

A note is part of the user's next message. It depends only on what is stored, so that later requests repeat its bytes
(prompt caches, quirk C15).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from signalbox.conversations.files.branch import BranchVersion, branch_of
from signalbox.core.conversations import Node
from signalbox.core.messages import Message, TextPart, UserMessage
from signalbox.core.workspace import WorkspaceFile, is_image
from signalbox.offload import offloaded
from signalbox.store.database import Database
from signalbox.store.files import StoredVersion, file_contents_of, file_versions_of
from signalbox.tools.files.line_diff import line_diff

TAG = "user_changes"
# Characters of diffs in one note, and how many changes it names.
LONGEST_NOTE = 20_000
MOST_CHANGES = 50


@dataclass(frozen=True, slots=True)
class PersonsChange:
    """What a person made of a file: `before` is the version that the model knew, None for a new file."""

    before: BranchVersion | None
    after: BranchVersion


async def edit_notes(
    database: Database, conversation_id: str, path: Sequence[Node], until: float | None = None
) -> dict[str, str]:
    """Return the notes of user messages on a path, by node; versions created after `until` do not count."""
    stored = await database.read(file_versions_of, conversation_id)
    known = [one for one in stored if until is None or one.created <= until]
    if not any(one.author == "person" for one in known):
        return {}
    changes = changes_on(path, known)
    ends = [one for each in changes.values() for change in each for one in (change.before, change.after)]
    wanted = [one.number for one in ends if one is not None and _has_text(one)]
    contents = await database.read(file_contents_of, conversation_id, wanted)

    def written() -> dict[str, str]:
        notes = {node_id: _note(each, contents) for node_id, each in changes.items()}
        return {node_id: note for node_id, note in notes.items() if note}

    return await offloaded(written, size=sum(map(len, contents.values())))


def with_note(messages: Sequence[Message], note: str | None) -> list[Message]:
    """Put a note in front of the first message of the user."""
    out = [*messages]
    if note:
        place = next((place for place, one in enumerate(out) if isinstance(one, UserMessage)), None)
        if place is not None and isinstance(message := out[place], UserMessage):
            content = message.content
            told = f"{note}\n\n{content}" if isinstance(content, str) else (TextPart(note), *content)
            out[place] = replace(message, content=told)
    return out


def changes_on(path: Sequence[Node], stored: Sequence[StoredVersion]) -> dict[str, list[PersonsChange]]:
    """Return a person's changes on a path by the user message that follows them, or at which they were made.

    Consecutive changes of a file are one change. A version by the model in between separates them.
    """
    by_node: dict[str, list[BranchVersion]] = {}
    for one in branch_of(path, stored).versions:
        by_node.setdefault(one.version.node_id, []).append(one)
    newest: dict[str, BranchVersion] = {}
    untold: list[PersonsChange] = []
    found: dict[str, list[PersonsChange]] = {}
    for node in path:
        for one in by_node.get(node.id, ()):
            before = newest.get(one.version.path)
            if one.version.author == "person":
                _add(untold, PersonsChange(before, one))
            newest[one.version.path] = one
        if node.role == "user" and untold:
            found[node.id], untold = untold, []
    return found


def _add(changes: list[PersonsChange], change: PersonsChange) -> None:
    """Add a change, or extend the one that it continues."""
    for place, one in enumerate(changes):
        if one.after == change.before:
            changes[place] = PersonsChange(one.before, change.after)
            return
    changes.append(change)


def _has_text(one: BranchVersion) -> bool:
    return not one.version.is_deleted and not is_image(one.version.media_type)


def _note(changes: Sequence[PersonsChange], contents: Mapping[int, bytes]) -> str:
    """Return the note of one message, empty if the changes have cancelled each other out."""
    lines = [*_lines(changes, contents)]
    more = len(lines) - MOST_CHANGES
    if more > 0:
        lines = [*lines[:MOST_CHANGES], f"The user made {more} more changes. List the files to see them."]
    return "\n".join((f"<{TAG}>", *lines, f"</{TAG}>")) if lines else ""


def _lines(changes: Sequence[PersonsChange], contents: Mapping[int, bytes]) -> Iterator[str]:
    left = LONGEST_NOTE
    for change in changes:
        before, after = (_text(one, contents) for one in (change.before, change.after))
        existed = change.before is not None and not change.before.version.is_deleted
        version = change.after.version
        name = f"{version.path} (version {version.version})"
        if version.is_deleted:
            if existed:
                yield f"The user deleted {name}."
            continue
        verb = "changed" if existed else "added"
        if after is None or (existed and before is None):
            yield f"The user {verb} {name}: {version.media_type}, {version.size:,} bytes."
        elif before != after or not existed:
            diff = line_diff(before or "", after, version.path).text if after != (before or "") else ""
            shown = diff if len(diff) <= left else ""
            left -= len(shown)
            yield f"The user {verb} {name}:\n{shown}" if shown else f"The user {verb} {name}, {version.size:,} bytes."


def _text(one: BranchVersion | None, contents: Mapping[int, bytes]) -> str | None:
    if one is None or not _has_text(one) or one.number not in contents:
        return None
    return WorkspaceFile(one.version, contents[one.number]).text
